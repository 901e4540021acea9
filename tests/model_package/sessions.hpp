#pragma once
// Packages whose variants are models with different results, so that a test can identify the one that runs, and
// providers for them.
#include "context/compiled.hpp"
#include "packages.hpp"

namespace cameo::test {

/// The calls of an npu_provider and the values that it returns, which its copies share.
struct npu_state {
  std::vector<provider_device> devices;
  std::vector<std::string> modes;         // one for each configured copy
  std::vector<std::string> device_names;  // the devices of the last configured copy
  ref_counters counters;
};

inline provider_device npu_device(std::string name, device_kind kind = device_kind::npu,
                                  detail::text_pairs options = {}) {
  provider_device made;
  made.name = std::move(name);
  made.hardware.kind = kind, made.hardware.vendor = "Ref";
  made.options = std::move(options);
  return made;
}

/// The NPU's provider in the acceptance cases. It compiles MatMul, Relu and Add; a compatibility string contains the
/// verdict that it returns.
struct npu_provider : ref_provider<"RefNpuExecutionProvider"> {
  static constexpr std::string_view name = "refnpu";
  static constexpr provider_vendor vendor{"Ref"};
  static constexpr provider_option options[] = {{"mode", "plain", "how it runs"}, {"level", "0", "how much"}};
  std::shared_ptr<npu_state> state;

  explicit npu_provider(std::shared_ptr<npu_state> s = std::make_shared<npu_state>()) : state{std::move(s)} {
    counters = &state->counters;
  }
  result<std::vector<provider_device>> devices() const { return state->devices; }
  result<npu_provider> configured(const provider_options& wanted) const {
    if (wanted["mode"] == "impossible") return status{status_code::ep_fail, "there is no mode 'impossible'"};
    state->modes.emplace_back(wanted["mode"]);
    state->device_names.clear();
    for (const provider_device& d : wanted.devices()) state->device_names.push_back(d.name);
    return *this;
  }
  result<compiled_fit> fits(std::string_view written) const {
    if (written == "opt" || written == "gen2") return compiled_fit::optimal;
    if (written == "old") return compiled_fit::prefer_recompilation;
    if (written == "bad") return compiled_fit::unsupported;
    if (written == "err") return status{status_code::fail, "cannot tell"};
    return compiled_fit::not_applicable;
  }
};
static_assert(compatibility_checker<npu_provider> && device_provider<npu_provider> &&
              configurable_provider<npu_provider>);

/// The provider in the example of the older layouts, which lists no devices.
struct example_provider : ref_provider<"example_ep"> {
  result<compiled_fit> fits(std::string_view) const { return compiled_fit::not_applicable; }
};

/// A model x[1] -> x + c, where c identifies the variant.
inline std::unique_ptr<model> adding(float c) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1)});
  b.output(b.node("Add", {x, b.constant("c", {1}, std::vector<float>{c})}));
  return b.take();
}
/// Writes adding(c) to a file; with `weights`, c is in that file beside it.
inline void write_adding(const std::string& path, float c, const std::string& weights = {}) {
  fs::create_directories(fs::path{path}.parent_path());
  const status done = weights.empty() ? write_onnx(*adding(c), path) : write_onnx(*adding(c), path, {weights, 1});
  REQUIRE_MESSAGE(done, std::string{done.words()});
}
/// The number c that a session of adding(c) adds.
inline float added_by(const session& s) {
  const std::vector<float> x{0.25f};
  const auto out = s.run({{"x", x}});
  REQUIRE_MESSAGE(out, std::string{out.error().words()});
  return floats_of((*out)[0].value).at(0) - 0.25f;
}
/// The number that a loaded session adds, as text, or the error of loading.
inline std::string added_by(const result<session>& s) { return s ? std::to_string(int(added_by(*s))) : verdict(s); }

/// The JSON members of a variant with a model file; `more` are further ones ("\"device\": \"npu\"").
inline std::string runs_on(const std::string& ep, const std::string& more = {}, const std::string& ort = {}) {
  return "\"ep\": \"" + ep + "\", " + more + (more.empty() ? "" : ", ") +
         R"("executor_info": {"ort": {"model_file": "m.onnx")" + (ort.empty() ? "" : ", ") + ort + "}}";
}
inline const std::string on_cpu = "CPUExecutionProvider", on_npu = "RefNpuExecutionProvider";

/// A package whose variants have models that add the variants' numbers.
struct numbered_package {
  package_folder at;
  explicit numbered_package(const std::string& variants, const std::map<std::string, float>& models) {
    at.write("manifest.json", manifest_of(variants));
    for (const auto& [variant, c] : models) write_adding(at / (variant + "/m.onnx"), c);
  }
};

/// A runtime of the NPU's provider and cpu.
struct npu_runtime {
  std::shared_ptr<npu_state> state = std::make_shared<npu_state>();
  runtime<npu_provider, eps::cpu> loader{npu_provider{state}, eps::cpu{}};

  npu_runtime() { state->devices = {npu_device("NPU")}; }
};

inline session_options using_providers(std::vector<std::string> providers) {
  session_options options;
  options.providers = std::move(providers);
  return options;
}

/// The name of the selected variant, or the error of the selection.
inline std::string name_in(const result<component_context>& c) { return c ? c->variant().name : verdict(c); }

/// The selected variant. The test fails if the selection does.
template <class Runtime, class... How>
component_context selected(const Runtime& with, const std::string& folder, const How&... how) {
  const package p = opened(folder);
  const result<component_context> made = with.select(p, "main", how...);
  REQUIRE_MESSAGE(made, std::string{made.error().words()});
  return *made;
}

}  // namespace cameo::test
