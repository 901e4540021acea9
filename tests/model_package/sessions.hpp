#pragma once
// Packages whose variants are models that tell which one runs, and providers for them.
#include "context/compiled.hpp"
#include "packages.hpp"

namespace cameo::test {

/// What was asked of an npu_provider, and what it is to say; shared by its copies.
struct npu_state {
  std::vector<provider_device> devices;
  std::vector<std::string> modes;         // of each copy that was configured
  std::vector<std::string> device_names;  // of the last one's devices
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

/// The acceptance cases' provider of an NPU: it compiles MatMul, Relu and Add, and judges texts as they say.
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

/// A provider of the older layouts' example; it tells of no device.
struct example_provider : ref_provider<"example_ep"> {
  result<compiled_fit> fits(std::string_view) const { return compiled_fit::not_applicable; }
};

/// x[1] -> x + c: which variant it is can be seen from what it gives.
inline std::unique_ptr<model> adding(float c) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1)});
  b.output(b.node("Add", {x, b.constant("c", {1}, std::vector<float>{c})}));
  return b.take();
}
/// As a file; with `weights`, c lies in that file beside it.
inline void write_adding(const std::string& path, float c, const std::string& weights = {}) {
  fs::create_directories(fs::path{path}.parent_path());
  const status done = weights.empty() ? write_onnx(*adding(c), path) : write_onnx(*adding(c), path, {weights, 1});
  REQUIRE_MESSAGE(done, std::string{done.words()});
}
/// What a session of such a model adds.
inline float added_by(const session& s) {
  const std::vector<float> x{0.25f};
  const auto out = s.run({{"x", x}});
  REQUIRE_MESSAGE(out, std::string{out.error().words()});
  return floats_of((*out)[0].value).at(0) - 0.25f;
}
/// The same of a load; what went wrong if it did.
inline std::string added_by(const result<session>& s) { return s ? std::to_string(int(added_by(*s))) : verdict(s); }

/// The members of a variant with a model file, and more ("\"device\": \"npu\"").
inline std::string runs_on(const std::string& ep, const std::string& more = {}, const std::string& ort = {}) {
  return "\"ep\": \"" + ep + "\", " + more + (more.empty() ? "" : ", ") +
         R"("executor_info": {"ort": {"model_file": "m.onnx")" + (ort.empty() ? "" : ", ") + ort + "}}";
}
inline const std::string on_cpu = "CPUExecutionProvider", on_npu = "RefNpuExecutionProvider";

/// A package folder whose variants have models that add what their numbers say.
struct numbered_package {
  package_folder at;
  explicit numbered_package(const std::string& variants, const std::map<std::string, float>& models) {
    at.write("manifest.json", manifest_of(variants));
    for (const auto& [variant, c] : models) write_adding(at / (variant + "/m.onnx"), c);
  }
};

/// The NPU's provider and cpu.
struct npu_runtime {
  std::shared_ptr<npu_state> state = std::make_shared<npu_state>();
  runtime<npu_provider, eps::cpu> loader{npu_provider{state}, eps::cpu{}};

  npu_runtime() { state->devices = {npu_device("NPU")}; }
};

inline session_options on(std::vector<std::string> providers) {
  session_options options;
  options.providers = std::move(providers);
  return options;
}

/// What a selection chose; what went wrong if it did.
inline std::string name_in(const result<component_context>& c) { return c ? c->variant().name : verdict(c); }

/// The context; the test ends if there is none.
template <class Runtime, class... How>
component_context selected(const Runtime& with, const std::string& folder, const How&... how) {
  const package p = opened(folder);
  const result<component_context> made = with.select(p, "main", how...);
  REQUIRE_MESSAGE(made, std::string{made.error().words()});
  return *made;
}

}  // namespace cameo::test
