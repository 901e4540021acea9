#include "packages.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// The name of the chosen variant of a manifest; the words of the error if none is chosen.
std::string chosen(const std::string& variants, const std::vector<device_facts>& devices, best_fit policy = {}) {
  const package_folder folder;
  folder.write("manifest.json", manifest_of(variants));
  const package p = opened(folder.path());
  const result<selection> made = select_variant(p, "main", devices, policy);
  if (!made) CHECK(made.error().code() == status_code::fail);
  return made ? made->variant->name : std::string{made.error().words()};
}

bool none_of(const std::string& words) { return has(words, "no suitable variant"); }

/// A user's policy.
struct last_one {
  selection operator()(const selection_request& request) const {
    selection made;
    if (!request.component.variants.empty()) made.variant = &request.component.variants.back();
    return made;
  }
};
static_assert(variant_policy<last_one>);
struct no_policy {};
static_assert(!variant_policy<no_policy>);

}  // namespace

TEST_CASE("1: a variant that names the provider is chosen, and its folder is in the package") {
  const package_folder folder;
  folder.write("manifest.json", manifest_of(cpu_variant("only"))).make("only");
  const package p = opened(folder.path());
  const std::vector<device_facts> devices{cpu_device()};
  const result<selection> made = select_variant(p, "main", devices);
  REQUIRE_MESSAGE(made, made.error().words());
  CHECK(made->variant->folder == "only");
  CHECK(made->device == &devices[0]);
  CHECK(made->verdicts[0].score == 0);
  CHECK(select_variant(p, "other", devices).error().code() == status_code::invalid_argument);
}

TEST_CASE("2: of equal variants the first declared is chosen") {
  CHECK(chosen(cpu_variant("b") + "," + cpu_variant("a"), {cpu_device()}) == "b");
  CHECK(chosen(cpu_variant("a") + "," + cpu_variant("b"), {cpu_device()}) == "a");
}

TEST_CASE("3: the verdict decides: optimal, prefer_recompilation, not_applicable, unsupported") {
  CHECK(chosen(npu_variant("v1", "old") + "," + npu_variant("v2", "opt"), {ref_npu()}) == "v2");
  CHECK(chosen(npu_variant("v1", "x") + "," + npu_variant("v2", "old"), {ref_npu()}) == "v2");
  CHECK(none_of(chosen(npu_variant("v1", "bad"), {ref_npu()})));
  CHECK(chosen(npu_variant("v1", "bad") + "," + npu_variant("v2", "x"), {ref_npu()}) == "v2");
}

TEST_CASE("4: an error of the provider's hook counts as no verdict") {
  for (const std::string failing : {"err", "throw"}) {
    CHECK(chosen(npu_variant("v1", failing), {ref_npu()}) == "v1");
    CHECK(chosen(npu_variant("v1", failing) + "," + npu_variant("v2", "opt"), {ref_npu()}) == "v2");
  }
  device_facts silent = ref_npu();
  silent.judge = {};
  CHECK(chosen(npu_variant("v1", "bad"), {silent}) == "v1");
}

TEST_CASE("5: only the first provider counts, unless the policy is ranked") {
  const std::vector<device_facts> devices{ref_npu(), cpu_device()};
  CHECK(none_of(chosen(cpu_variant("v"), devices)));
  CHECK(chosen(cpu_variant("v"), devices, {true}) == "v");
  CHECK(chosen(cpu_variant("v") + "," + npu_variant("n", "x"), devices, {true}) ==
        "n");  // the first provider with a match
  CHECK(chosen(npu_variant("n", "bad") + "," + cpu_variant("v"), devices, {true}) == "v");
  CHECK(none_of(chosen(npu_variant("n", "bad"), devices, {true})));
}

TEST_CASE("6: a device must be one that the provider has, in upper or lower case") {
  CHECK(chosen(cpu_variant("v", R"(, "device": "cpu")"), {cpu_device()}) == "v");
  CHECK(chosen(cpu_variant("v", R"(, "device": "CPU")"), {cpu_device()}) == "v");
  CHECK(none_of(chosen(cpu_variant("v", R"(, "device": "gpu")"), {cpu_device()})));
  CHECK(none_of(chosen(cpu_variant("v", R"(, "device": "tpu")"), {cpu_device()})));
  device_facts unknown = cpu_device();
  unknown.kind.clear();
  CHECK(none_of(chosen(cpu_variant("v", R"(, "device": "cpu")"), {unknown})));
  CHECK(none_of(chosen(cpu_variant("v", R"(, "device": "")"), {unknown})));
  CHECK(chosen(cpu_variant("v"), {unknown}) == "v");
}

TEST_CASE("6: of a provider's devices of the variant's kind, the best one counts") {
  device_facts cpu{"Many", "cpu", "", {}, [](std::string_view) { return variant_fit::optimal; }};
  device_facts gpu{"Many", "gpu", "", {}, [](std::string_view) { return variant_fit::unsupported; }};
  const auto of = [](const std::string& device) {
    return variant_json("v", R"("ep": "Many", "compatibility_string": "x", "device": ")" + device + "\"");
  };
  CHECK(chosen(of("cpu"), {gpu, cpu}) == "v");
  CHECK(none_of(chosen(of("gpu"), {gpu, cpu})));
  CHECK(chosen(variant_json("v", R"("ep": "Many", "compatibility_string": "x")"), {gpu, cpu}) == "v");
}

TEST_CASE("7: a variant without ep, or with the name in other case, is never chosen") {
  CHECK(none_of(chosen(variant_json("v", ""), {cpu_device()})));
  CHECK(none_of(chosen(variant_json("v", R"("ep": "cpuexecutionprovider")"), {cpu_device()})));
  CHECK(none_of(chosen("", {cpu_device()})));
  CHECK(none_of(chosen(cpu_variant("v"), {})));
}

TEST_CASE("every variant has an explanation, in the selection and in the error") {
  const package_folder folder;
  folder.write("manifest.json",
               manifest_of(npu_variant("bad", "bad") + "," + npu_variant("good", "opt") + "," + cpu_variant("cpu") +
                           "," + variant_json("none", "") + "," +
                           variant_json("gpu", R"("ep": "RefNpuExecutionProvider", "device": "gpu")")));
  const package p = opened(folder.path());
  const std::vector<device_facts> npu{ref_npu()}, cpu{cpu_device()};
  const result<selection> made = select_variant(p, "main", npu);
  REQUIRE(made);
  REQUIRE(made->verdicts.size() == 5);
  CHECK(has(made->verdicts[0].why, "does not work here"));
  CHECK(made->verdicts[1].score == 100);
  CHECK(has(made->verdicts[2].why, "its ep is 'CPUExecutionProvider', not 'RefNpuExecutionProvider'"));
  CHECK(has(made->verdicts[3].why, "names no ep"));
  CHECK(has(made->verdicts[4].why, "has no device 'gpu'"));
  CHECK(has(made->text(), "good: chosen, score 100"));
  folder.write("manifest.json", manifest_of(npu_variant("bad", "bad") + "," + variant_json("none", "")));
  const package other = opened(folder.path());
  const std::string words{select_variant(other, "main", npu).error().words()};
  CHECK(has(words, "'bad': the provider says that it does not work here"));
  CHECK(has(words, "'none': it names no ep"));
}

TEST_CASE("a user may write a policy") {
  const package_folder folder;
  folder.write("manifest.json", manifest_of(variant_json("a", "") + "," + variant_json("z", "")));
  const package p = opened(folder.path());
  CHECK((*select_variant(p, "main", {}, last_one{})).variant->name == "z");
}

// --- the layouts before schema 1 ---

namespace {

const std::string early = R"({"variant_name": "variant_1", "file": "mul_1.onnx",
  "constraints": {"ep": "example_ep", "device": "cpu", "architecture": "arch1"}})";
const std::string early_2 = R"({"variant_name": "variant_2", "file": "mul_16.onnx",
  "constraints": {"ep": "example_ep", "device": "npu", "architecture": "arch2"}})";

device_facts example_ep(const std::string& kind, const std::string& architecture) {
  device_facts made{"example_ep", kind, "", {}, {}};
  if (!architecture.empty()) made.metadata = {{"architecture", architecture}};
  return made;
}

}  // namespace

TEST_CASE("the early layout opens and selects: variants in metadata.json, in a list or by name") {
  const std::string by_name = R"({"variant_1": {"file": "mul_1.onnx", "constraints": {"ep": "example_ep",
    "device": "cpu", "architecture": "arch1"}}, "variant_2": {"file": "mul_16.onnx", "constraints": {"ep": "example_ep",
    "device": "npu", "architecture": "arch2"}}})";
  for (const std::string& variants : {"[" + early + "," + early_2 + "]", by_name}) {
    const package_folder at;
    at.write("manifest.json", R"({"name": "old", "component_models": ["mul"]})");
    at.write("models/mul/metadata.json", R"({"component_model_name": "mul", "model_variants": )" + variants + "}");
    at.write("models/mul/variant_1/mul_1.onnx", "one").write("models/mul/mul_16.onnx", "sixteen");
    const package p = opened(at.path());
    CHECK(p.layout() == package_layout::metadata);
    CHECK(p.name() == "old");
    CHECK(p.schema_version() == std::pair{0, 0});
    REQUIRE(p.components().size() == 1);
    const package_component& c = p.components()[0];
    REQUIRE(c.variants.size() == 2);
    CHECK(c.variants[0].folder == "models/mul/variant_1");
    CHECK(p.read(c.variants[0], *c.variants[0].model_file));
    CHECK(p.read(c.variants[1], *c.variants[1].model_file));  // the file is beside metadata.json
    CHECK(chosen_in(p, "mul", example_ep("cpu", "arch1")) == "variant_1");
    CHECK(chosen_in(p, "mul", example_ep("npu", "arch2")) == "variant_2");
    CHECK(none_of(chosen_in(p, "mul", example_ep("cpu", "arch2"))));
    CHECK(chosen_in(p, "mul", example_ep("", "arch2")) ==
          "variant_2");  // the provider lists no kind of device, so that it is not compared
    CHECK(chosen_in(p, "mul", example_ep("npu", "")) == "variant_2");  // the device has no architecture
  }
}

TEST_CASE("metadata.json has precedence, and the manifest has fields that it lacks") {
  const package_folder at;
  at.write("manifest.json", R"({"model_name": "m", "component_models": {"c": {"model_variants": {
    "v": {"model_file": "other.onnx", "constraints": {"ep": "Wrong", "device": "npu"}},
    "ghost": {"model_file": "ghost.onnx", "constraints": {"ep": "Right"}}}}}})");
  at.write("models/c/metadata.json", R"({"model_variants": {"v": {"constraints": {"ep": "Right"}}}})");
  const package p = opened(at.path());
  REQUIRE(p.components()[0].variants.size() == 1);
  const package_variant& v = p.components()[0].variants[0];
  CHECK(v.ep == "Right");
  CHECK(v.device == "npu");
  CHECK(v.model_file == "other.onnx");
  std::filesystem::remove(at / "models/c/metadata.json");
  CHECK(opened(at.path()).components()[0].variants.size() == 2);
}

TEST_CASE("components of the layout with metadata.json are the folders when the manifest has no list") {
  const package_folder at;
  at.write("manifest.json", R"({"model_name": "m", "model_version": "2"})");
  at.write("models/b/metadata.json", R"({"model_variants": {"v": {"model_id": "id7", "constraints":
    {"ep": "E", "ep_compatibility_info": "opt"}}}})");
  at.write("models/b/id7/only.onnx", "x")
      .write("models/a/metadata.json", R"({"model_variants": {}})")
      .make("models/none");
  const package p = opened(at.path());
  REQUIRE(p.components().size() == 2);
  CHECK(p.version() == "2");
  CHECK(p.components()[0].name == "a");
  const package_variant& v = p.components()[1].variants[0];
  CHECK(v.folder == "models/b/id7");
  CHECK(v.model_file == "only.onnx");  // the only model file
  CHECK(v.compatibility == "opt");
  at.write("manifest.json", R"({"model_name": "m", "component_models": ["a", "gone"]})");
  CHECK(problem_of(at.path()).fault == package_fault::not_found);
  at.write("manifest.json", R"({"model_name": "m", "component_models": ["../.."]})");
  CHECK(problem_of(at.path()).fault == package_fault::confinement);
}

TEST_CASE("the first draft, a list of variants in the manifest, opens and selects") {
  const package_folder at;
  at.write("manifest.json", R"({"name": "mul", "components": [)" + early + "," + early_2 + "]}");
  at.write("mul_1.onnx", "one").write("mul_16.onnx", "sixteen");
  const package p = opened(at.path());
  CHECK(p.layout() == package_layout::flat);
  CHECK(chosen_in(p, "mul", example_ep("npu", "arch2")) == "variant_2");
  CHECK(p.read(p.components()[0].variants[1], "mul_16.onnx"));
}

TEST_CASE("an older layout is schema 1 once it is committed, and the same variant is chosen") {
  const package_folder at;
  at.write("manifest.json", R"({"name": "old", "component_models": ["mul"]})");
  at.write("models/mul/metadata.json", R"({"model_variants": [)" + early + "," + early_2 + "]}");
  at.write("models/mul/variant_1/mul_1.onnx", "one").write("models/mul/variant_2/mul_16.onnx", "sixteen");
  package p = opened(at.path());
  const package_folder out;
  CHECK(opened(at.path()).save_as(out / "new"));
  const status committed = p.commit();
  REQUIRE_MESSAGE(committed, committed.words());
  for (const std::string& folder : {at.path(), out / "new"}) {
    const package read = opened(folder);
    CHECK(read.layout() == package_layout::schema_1);
    CHECK(read.schema_version() == std::pair{1, 0});
    CHECK(read.name() == "old");
    CHECK(chosen_in(read, "mul", example_ep("npu", "arch2")) == "variant_2");
    CHECK(none_of(chosen_in(read, "mul", example_ep("cpu", "arch2"))));
    CHECK(read.components()[0].variants[0].architecture == "arch1");
    CHECK(read.read(read.components()[0].variants[0], "mul_1.onnx"));
    std::vector<package_problem> found;
    CHECK(package::validate(folder, {}, found));
    CHECK(found.empty());
  }
  // In other packages, the field "architecture" may have another meaning.
  at.write("manifest.json", manifest_of(cpu_variant("v", R"(, "additional_metadata": {"architecture": "llama"})")));
  device_facts cpu = cpu_device();
  cpu.metadata = {{"architecture", "x86"}};
  CHECK(chosen_in(opened(at.path()), "main", cpu) == "v");
}
