// One package with several variants of a model: compiled for two instruction sets, for another provider if there is
// one, and uncompiled. Each machine runs the variant that fits it, and all give the same outputs.
#if __has_include(<cameo/eps/openvino.hpp>)
#include <cameo/eps/openvino.hpp>
#include <cameo/packages.hpp>
#define CAMEO_HAS_OPENVINO 1
#else
#define CAMEO_HAS_OPENVINO 0
#endif

#include "../../cpu/tests/each_target.hpp"
#include "frozen_models.hpp"
#include "model_package/packages.hpp"

#include <algorithm>
#include <cmath>

namespace cameo::test {
namespace {

#if CAMEO_HAS_OPENVINO
using example_runtime = runtime<frozen_cpu, eps::openvino, eps::cpu>;
#else
using example_runtime = frozen_runtime;
#endif
constexpr const char* frozen_name = "FrozenExecutionProvider";

/// The instruction sets that the kernels are built for and this processor has, best first.
std::vector<std::int64_t> instruction_sets() {
  return single_targets(eps::built_targets() & forced_target::supported());
}

struct compiled_form {
  std::string folder, compatibility;
};

/// Compiles the model into `folder`, with its context in a file beside it.
compiled_form freeze(const std::string& folder, std::unique_ptr<cameo::model> m, const char* provider = "frozen") {
  fs::create_directories(folder);
  const std::string to = folder + "/m_ctx.onnx";
  compile_options options;
  options.input = std::move(m);
  options.output = to;
  options.session = keys({{"ep.context_file_path", to}});
  options.session.providers = {provider, "cpu"};
  const example_runtime with;
  const auto report = must(with.compile(std::move(options)));
  REQUIRE(report->compiled_nodes > 0);
  const auto written = must(with.compatibility(to, frozen_name));
  return {folder, written->value_or("")};
}

package_variant variant_of(std::string name, std::string ep, std::string model_file) {
  package_variant v;
  v.name = std::move(name), v.ep = std::move(ep), v.model_file = std::move(model_file);
  return v;
}

void add(package& to, package_variant v, const std::string& from) {
  const std::string component = to.components().back().name;
  const status done = to.add_variant(component, std::move(v), from);
  REQUIRE_MESSAGE(done, std::string{done.words()});
}
void add_frozen(package& to, const std::string& name, const compiled_form& form) {
  package_variant v = variant_of(name, frozen_name, "m_ctx.onnx");
  REQUIRE(!form.compatibility.empty());
  v.compatibility = form.compatibility;
  add(to, std::move(v), form.folder);
}

/// Variants "first" and "second" are compiled for two instruction sets. If the processor or the build has only one,
/// "second" is "first" with the compatibility string of another machine.
struct example_package {
  package_folder at;
  std::vector<std::int64_t> sets = instruction_sets();
  std::string path = at / "example";

  bool has_two() const { return sets.size() > 1; }
  example_package() {
    REQUIRE_FALSE(sets.empty());
    if (!has_two()) MESSAGE("one instruction set only: the other variant only differs in its compatibility string");
    compiled_form first, second;
    {
      const forced_target forced{sets[0]};
      first = freeze(at / "first", small_network());
    }
    if (has_two()) {
      const forced_target forced{sets[1]};
      second = freeze(at / "second", small_network());
      CHECK(second.compatibility != first.compatibility);
    } else {
      second = {first.folder, first.compatibility + " and nowhere else"};
    }
    at.make("plain");
    save(*small_network(), at / "plain/m.onnx");
    result<package> made = package::make("example");
    REQUIRE(made);
    REQUIRE(made->add_component("main"));
    add_frozen(*made, "second", second);
    add_frozen(*made, "first", first);
#if CAMEO_HAS_OPENVINO
    add(*made, variant_of("openvino", "OpenVINOExecutionProvider", "m_ctx.onnx"),
        freeze(at / "openvino", small_network(), "openvino").folder);
#endif
    add(*made, variant_of("plain", "CPUExecutionProvider", "m.onnx"), at / "plain");
    const status saved = made->save_as(path);
    REQUIRE_MESSAGE(saved, std::string{saved.words()});
  }
};

/// The variant that is chosen with ranking over all providers, the bytes of its outputs, and the provider of its first
/// node.
struct outcome {
  std::string variant, bits, provider;
};
template <class Runtime>
outcome run_selected(const Runtime& with, const package& p, const session_options& how = {}) {
  const auto c = must(with.select(p, "main", how, best_fit{.ranked = true}));
  const auto s = must(with.load(*c));
  const std::vector<named_input> inputs{{"x", image()}};
  return {c->variant().name, bits_of(*s, inputs), s->placements().at(0).provider};
}

std::string plain_bits() {
  const std::vector<named_input> inputs{{"x", image()}};
  return bits_of(loaded(small_network()), inputs);
}

bool are_near(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i + sizeof(float) <= a.size(); i += sizeof(float)) {
    float x = 0, y = 0;
    std::memcpy(&x, a.data() + i, sizeof x), std::memcpy(&y, b.data() + i, sizeof y);
    if (!(std::abs(x - y) <= 1e-3f + 1e-2f * std::abs(y))) return false;
  }
  return true;
}

bool in_order(const package& p, std::vector<std::string> wanted) {
  std::vector<std::string> names;
  for (const package_variant& v : p.components()[0].variants) names.push_back(v.name);
  return names == wanted;
}

TEST_CASE("a package runs the variant that was compiled for the processor at hand") {
  const example_package example;
  const package p = opened(example.path);
  CHECK(in_order(p, CAMEO_HAS_OPENVINO ? std::vector<std::string>{"second", "first", "openvino", "plain"}
                                       : std::vector<std::string>{"second", "first", "plain"}));
  const example_runtime with;
  std::string best_bits;
  {
    const forced_target here{example.sets[0]};
    const outcome first = run_selected(with, p);
    CHECK(first.variant == "first");
    CHECK(first.provider == "frozen");
    CHECK(first.bits == plain_bits());
    best_bits = first.bits;
    session_options named;
    named.providers = {"frozen"};
    CHECK(run_selected(with, p, named).variant == "first");
  }
  if (!example.has_two()) return;
  const forced_target there{example.sets[1]};
  const outcome second = run_selected(with, p);
  CHECK(second.variant == "second");
  CHECK(second.provider == "frozen");
  CHECK(second.bits == plain_bits());
  CHECK(are_near(second.bits, best_bits));
}

/// Replaces the compatibility string of each frozen variant by that of a machine that does not exist.
void make_foreign(const std::string& path) {
  const std::string file = path + "/manifest.json";
  std::string text = text_of_file(file);
  for (std::size_t at = 0; (at = text.find("\"compatibility_string\": \"", at)) != text.npos; at += 1)
    text.insert(at + 25, "elsewhere, ");
  std::ofstream{file, std::ios::binary} << text;
}

TEST_CASE("if no compiled variant fits, that of the next provider runs, and the uncompiled model in the end") {
  const example_package example;
  make_foreign(example.path);
  const package p = opened(example.path);
  const example_runtime with;
  const outcome next = run_selected(with, p);
  CHECK(next.variant == (CAMEO_HAS_OPENVINO ? "openvino" : "plain"));
  CHECK(next.provider == (CAMEO_HAS_OPENVINO ? "openvino" : "cpu"));
  CHECK(are_near(next.bits, plain_bits()));
  const outcome plain = run_selected(frozen_runtime{}, p);
  CHECK(plain.variant == "plain");
  CHECK(plain.provider == "cpu");
  CHECK(plain.bits == plain_bits());
  // With named providers there is no ranking, as in ONNX Runtime: the variants of the first do not fit, which is an
  // error.
  session_options named;
  named.providers = {"frozen", "cpu"};
  const auto none = with.select(p, "main", named);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == status_code::fail);
  CHECK(has(none.error().words(), "'first': the provider says that it does not work here"));
  // A variant that does not fit, and that a policy takes nevertheless, does not run.
  const auto first = [](const selection_request& r) {
    selection made;
    made.variant = &r.component.variants.front();
    return made;
  };
  const auto c = must(with.select(p, "main", named, first));
  if (!example.has_two()) return;  // the variant was compiled for this instruction set
  const forced_target here{example.sets[0]};
  CHECK(with.load(*c).error().code() != status_code::ok);
}

/// The packing of the provider's kernels on this processor, from the metadata of its device.
std::string architecture_of(const example_runtime& with) {
  for (const ep_device& d : with.devices())
    if (d.ep == frozen_name)
      if (const std::string* found = find_text(d.device.metadata, "architecture")) return *found;
  return {};
}

TEST_CASE("with metadata.json, the variant for this processor is chosen by its architecture") {
  const package_folder at;
  const example_runtime with;
  const std::vector<std::int64_t> sets = instruction_sets();
  std::string variants;
  for (std::size_t i : {1u, 0u}) {
    const bool is_here = i < sets.size();  // with one instruction set, the other machine is imaginary
    const forced_target forced{sets[is_here ? i : 0]};
    const std::string name = "v" + std::to_string(i), architecture = architecture_of(with);
    REQUIRE(!architecture.empty());
    static_cast<void>(freeze(at / ("models/main/" + name), small_network()));
    variants +=
        "\"" + name + R"(": {"file": "m_ctx.onnx", "constraints": {"ep": "FrozenExecutionProvider", "device": )" +
        R"("cpu", "architecture": ")" + architecture + (is_here ? "" : ", of another") + "\"}}" + (i == 1 ? ", " : "");
  }
  at.write("manifest.json", R"({"name": "older", "component_models": ["main"]})");
  at.write("models/main/metadata.json", R"({"model_variants": {)" + variants + "}}");
  const package p = opened(at.path());
  session_options how;
  how.providers = {"frozen"};
  for (std::size_t i = 0; i < std::min<std::size_t>(sets.size(), 2); ++i) {
    const forced_target forced{sets[i]};
    const outcome got = run_selected(with, p, how);
    CHECK(got.variant == "v" + std::to_string(i));
    CHECK(got.provider == "frozen");
    CHECK(got.bits == plain_bits());
  }
}

TEST_CASE("components share one context and one file of weights, both of them shared assets of the package") {
  const package_folder at;
  const example_runtime with;
  const char* const ends[] = {"Relu", "Sigmoid"};
  for (std::size_t i = 0; i < 2; ++i) {  // two models with the same weights, in one context
    const std::string folder = at / ("compiled" + std::to_string(i));
    fs::create_directories(folder);
    compile_options options;
    options.input = over_shared_weights(ends[i]);
    options.output = at / ("m" + std::to_string(i) + ".onnx");
    options.session = keys({{"ep.share_ep_contexts", "1"}, {"ep.stop_share_ep_contexts", i ? "1" : "0"}});
    options.session.providers = {"frozen", "cpu"};
    REQUIRE(verdict(with.compile(std::move(options))) == "OK");
    at.make("plain" + std::to_string(i));
    REQUIRE(
        write_onnx(*over_shared_weights(ends[i]), at / ("plain" + std::to_string(i) + "/m.onnx"), {"weights.data", 1}));
  }
  at.make("contexts").make("weights");
  std::string context;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    fs::rename(at / ("m" + n + ".onnx"), at / ("compiled" + n + "/m.onnx"));
    fs::rename(at / ("plain" + n + "/weights.data"), at / "weights/weights.data");  // both files are equal
  }
  for (const auto& each : fs::directory_iterator{at.path()})
    if (each.path().extension() == ".bin") context = each.path().filename().string();
  REQUIRE(!context.empty());
  fs::rename(at / context, at / ("contexts/" + context));

  result<package> made = package::make("shared");
  REQUIRE(made);
  const auto contexts = must(made->add_asset(at / "contexts")), weights = must(made->add_asset(at / "weights"));
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    REQUIRE(made->add_component(ends[i]));
    package_variant compiled = variant_of("frozen", frozen_name, "m.onnx");
    compiled.compatibility = (*with.compatibility(at / ("compiled" + n + "/m.onnx"), frozen_name)).value_or("");
    compiled.session_options = {{"ep.context_file_path", *contexts + "/" + context}};
    add(*made, std::move(compiled), at / ("compiled" + n));
    package_variant plain = variant_of("plain", "CPUExecutionProvider", "m.onnx");
    plain.session_options = {{"session.model_external_initializers_file_folder_path", *weights}};
    add(*made, std::move(plain), at / ("plain" + n));
  }
  const status saved = made->save_as(at / "example");
  REQUIRE_MESSAGE(saved, std::string{saved.words()});
  std::vector<package_problem> problems;
  CHECK(package::validate(at / "example", {.assets = true}, problems));
  CHECK(problems.empty());
  std::uintmax_t bytes = 0;
  for (const auto& [name, text] : files_below(at / "example")) bytes += text.size();
  CHECK(bytes < 2 * (2 * 64 * 512 * sizeof(float)) + 50'000);  // the weights are stored twice: packed and plain

  const package p = opened(at / "example", {.verify_assets = true});
  const std::vector<float> x = ramp(64 * 7, 0.001f);
  const std::vector<named_input> inputs{{"x", x, extents{7, 64}}};
  for (const char* end : ends) {
    CAPTURE(end);
    const std::string wanted = bits_of(loaded(over_shared_weights(end)), inputs);
    for (const auto& [provider, variant] : {std::pair{"frozen", "frozen"}, std::pair{"cpu", "plain"}}) {
      session_options how;
      how.providers = {provider};
      const auto c = must(with.select(p, end, how));
      CHECK(c->variant().name == variant);
      for (const auto& s : {with.load(*c), with.load(*c, keys({{"ep.share_ep_contexts", "1"}}))}) {
        REQUIRE(verdict(s) == "OK");
        CHECK(bits_of(*s, inputs) == wanted);
      }
    }
  }
}

}  // namespace
}  // namespace cameo::test
