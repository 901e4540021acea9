// Tests sessions of packages. The numbers in the names of test cases are those of the acceptance cases.
#include "sessions.hpp"

#include <thread>

namespace cameo::test {
namespace {

bool none_fits(const std::string& words) {
  return words.starts_with("FAIL: ") && words.find("no suitable variant") != words.npos;
}

TEST_CASE("case 1: an inline variant for cpu without a device is selected, is in the package and runs") {
  const numbered_package pkg{variant_json("only", runs_on(on_cpu)), {{"only", 7}}};
  const component_context c = selected(cpu_runtime{}, pkg.at.path());
  CHECK(c.component() == "main");
  CHECK(c.variant().name == "only");
  CHECK(fs::equivalent(c.folder(), pkg.at / "only"));
  CHECK(fs::path{c.folder()}.is_absolute());
  CHECK(c.ep() == on_cpu);
  CHECK(c.devices().empty());
  REQUIRE(c.selected().verdicts.size() == 1);
  CHECK(c.selected().verdicts[0].matches);
  CHECK(c.selected().variant == &c.variant());
  const auto s = cpu_runtime{}.load(c);
  CHECK(added_by(s) == "7");
  CHECK(s->providers() == std::vector<std::string>{"cpu"});
  CHECK(fs::equivalent(s->graph().path, pkg.at / "only/m.onnx"));
}

TEST_CASE("case 2: of equal variants the first declared one runs") {
  const std::string a = variant_json("a", runs_on(on_cpu)), b = variant_json("b", runs_on(on_cpu));
  for (const bool is_b_first : {true, false}) {
    const numbered_package pkg{is_b_first ? b + "," + a : a + "," + b, {{"a", 1}, {"b", 2}}};
    CHECK(added_by(cpu_runtime{}.load(selected(cpu_runtime{}, pkg.at.path()))) == (is_b_first ? "2" : "1"));
  }
}

TEST_CASE("cases 3 and 4: the provider judges compatibility strings, and the best variant runs") {
  const auto text = [](const std::string& t) { return "\"compatibility_string\": \"" + t + "\""; };
  const struct {
    std::string first, second, wanted;
  } rows[] = {{"old", "opt", "2"}, {"bad", "x", "2"}, {"x", "old", "2"},
              {"err", "opt", "2"}, {"err", "x", "1"}, {"opt", "old", "1"}};
  for (const auto& row : rows) {
    CAPTURE(row.first);
    const numbered_package pkg{variant_json("v1", runs_on(on_npu, text(row.first))) + "," +
                                   variant_json("v2", runs_on(on_npu, text(row.second))),
                               {{"v1", 1}, {"v2", 2}}};
    const npu_runtime npu;
    const component_context c = selected(npu.loader, pkg.at.path(), using_providers({"refnpu"}));
    const auto s = npu.loader.load(c);
    CHECK(added_by(s) == row.wanted);
    CHECK(s->placements().at(0).provider == "refnpu");
  }
  const numbered_package bad{variant_json("v", runs_on(on_npu, text("bad"))), {{"v", 1}}};
  const npu_runtime npu;
  const package p = opened(bad.at.path());
  const std::string words = name_in(npu.loader.select(p, "main", using_providers({"refnpu"})));
  CHECK(none_fits(words));
  CHECK(words.find("'v': the provider says that it does not work here") != words.npos);
  CHECK(words.find(bad.at.path()) != words.npos);
}

TEST_CASE("case 5: only the first provider counts, unless the policy is ranked") {
  const numbered_package pkg{variant_json("plain", runs_on(on_cpu)), {{"plain", 3}}};
  const npu_runtime npu;
  const package p = opened(pkg.at.path());
  CHECK(none_fits(name_in(npu.loader.select(p, "main", using_providers({"refnpu", "cpu"})))));
  const auto ranked = npu.loader.select(p, "main", using_providers({"refnpu", "cpu"}), best_fit{.ranked = true});
  REQUIRE(name_in(ranked) == "plain");
  CHECK(ranked->ep() == on_cpu);
  const auto s = npu.loader.load(*ranked);
  CHECK(added_by(s) == "3");
  CHECK(s->providers() == std::vector<std::string>{"cpu"});
}

TEST_CASE("case 5: variants for providers that were named after another one are a warning") {
  const numbered_package pkg{variant_json("c", runs_on(on_cpu)) + ", " + variant_json("n", runs_on(on_npu)),
                             {{"n", 1}}};
  const npu_runtime npu;
  std::vector<std::string> messages;
  session_options options = using_providers({"refnpu", "cpu"});
  options.log_from = log_level::warning;
  options.log = [&](log_level, std::string_view words) { messages.emplace_back(words); };
  CHECK(name_in(npu.loader.select(opened(pkg.at.path()), "main", options)) == "n");
  REQUIRE(messages.size() == 1);
  CHECK(messages[0] ==
        "component 'main': variant 'c' is for CPUExecutionProvider, which was not considered: "
        "RefNpuExecutionProvider precedes it");
  options.providers = {"refnpu"};
  messages.clear();
  CHECK(npu.loader.select(opened(pkg.at.path()), "main", options));
  CHECK(messages.empty());  // the fallback was appended without being named
}

TEST_CASE("ranked and without named providers: those of the runtime are tried in its order") {
  const std::string cpu = variant_json("plain", runs_on(on_cpu));
  const npu_runtime npu;
  const numbered_package both{cpu + "," + variant_json("npu", runs_on(on_npu)), {{"plain", 1}, {"npu", 2}}};
  const package p = opened(both.at.path());
  CHECK(name_in(npu.loader.select(p, "main")) == "plain");
  const auto ranked = npu.loader.select(p, "main", {}, best_fit{.ranked = true});
  REQUIRE(name_in(ranked) == "npu");
  CHECK(added_by(npu.loader.load(*ranked)) == "2");
  const numbered_package alone{variant_json("npu", runs_on(on_npu)), {{"npu", 2}}};
  const std::string words = name_in(npu.loader.select(opened(alone.at.path()), "main"));
  CHECK(none_fits(words));
  CHECK(has(words, "no suitable variant for CPUExecutionProvider"));
  CHECK(has(words, "ranked = true"));  // the remedy
  CHECK(name_in(npu.loader.select(opened(alone.at.path()), "main", {}, best_fit{.ranked = true})) == "npu");
}

TEST_CASE("case 6: cpu has the device cpu, in upper or lower case, and no other") {
  const struct {
    std::string device;
    bool fits;
  } rows[] = {{"cpu", true}, {"CPU", true}, {"gpu", false}, {"tpu", false}};
  for (const auto& row : rows) {
    CAPTURE(row.device);
    const numbered_package pkg{variant_json("v", runs_on(on_cpu, "\"device\": \"" + row.device + "\"")), {{"v", 4}}};
    const package p = opened(pkg.at.path());
    for (const session_options& how : {session_options{}, using_providers({"cpu"}), using_providers({on_cpu})}) {
      const auto c = cpu_runtime{}.select(p, "main", how);
      CHECK((row.fits ? name_in(c) == "v" : none_fits(name_in(c))));
      if (c) CHECK(added_by(cpu_runtime{}.load(*c)) == "4");
    }
  }
}

TEST_CASE("case 6: a provider that lists no devices runs only variants for any device") {
  const numbered_package pkg{variant_json("cpu", runs_on("example_ep", R"("device": "cpu")")) + "," +
                                 variant_json("any", runs_on("example_ep")),
                             {{"cpu", 1}, {"any", 2}}};
  const runtime<example_provider, eps::cpu> with;
  const component_context c = selected(with, pkg.at.path(), using_providers({"example_ep"}));
  CHECK(c.variant().name == "any");
  CHECK(has(c.selected().verdicts.at(0).why, "has no device 'cpu'"));
  CHECK(added_by(with.load(c)) == "2");
}

TEST_CASE("case 7: a variant without ep, or with its name in other case, is never selected") {
  const numbered_package pkg{variant_json("none", "") + "," + variant_json("other", runs_on("cpuexecutionprovider")),
                             {{"none", 1}, {"other", 2}}};
  CHECK(none_fits(name_in(cpu_runtime{}.select(opened(pkg.at.path()), "main"))));
}

TEST_CASE("case 8: without a named provider, a variant is selected for the fallback and runs") {
  const numbered_package pkg{variant_json("npu", runs_on(on_npu)) + "," + variant_json("plain", runs_on(on_cpu)),
                             {{"npu", 1}, {"plain", 2}}};
  const npu_runtime npu;
  const component_context c = selected(npu.loader, pkg.at.path());
  CHECK(c.ep() == on_cpu);
  for (const auto& s : {npu.loader.load(c), npu.loader.load(c, {})}) {
    CHECK(added_by(s) == "2");
    CHECK(s->providers() == std::vector<std::string>{"cpu"});
  }
}

TEST_CASE("cases 11 and 12: a component that does not exist, and sessions of external components") {
  package_folder at;
  at.write("manifest.json",
           R"({"schema_version": "1.0", "components": {"folder": "decoder", "file": "encoder.json"}})");
  at.write("decoder/component.json", R"({"variants": {)" + variant_json("v", runs_on(on_cpu)) + "}}");
  at.write("encoder.json", R"({"variants": {)" + variant_json("w", runs_on(on_cpu)) + "}}");
  write_adding(at / "decoder/v/m.onnx", 1);
  write_adding(at / "w/m.onnx", 2);
  const package p = opened(at.path());
  const cpu_runtime with;
  const auto none = with.select(p, "main");
  CHECK(none.error().code() == status_code::invalid_argument);
  CHECK(verdict(none).find("folder") != std::string::npos);
  const auto folder = with.select(p, "folder"), file = with.select(p, "file");
  REQUIRE(name_in(folder) == "v");
  REQUIRE(name_in(file) == "w");
  CHECK(added_by(with.load(*folder)) == "1");
  CHECK(added_by(with.load(*file)) == "2");
  at.write("manifest.json", manifest_of(""));
  CHECK(none_fits(name_in(with.select(opened(at.path()), "main"))));
}

TEST_CASE("case 13: an explicit folder must exist; with a missing default one, there is no model file") {
  package_folder at;
  at.write("manifest.json", manifest_of(variant_json("v", "\"variant_directory\": \"v\", " + runs_on(on_cpu))));
  CHECK(problem_of(at.path()).fault == package_fault::not_found);
  at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_cpu))));
  const component_context c = selected(cpu_runtime{}, at.path());
  CHECK(c.folder().empty());
  for (const auto& s : {cpu_runtime{}.load(c), cpu_runtime{}.load(c, {})}) {
    REQUIRE_FALSE(s);
    CHECK(s.error().code() == status_code::no_suchfile);
    CHECK(verdict(s).find("m.onnx") != std::string::npos);
  }
  at.make("v");  // an empty folder changes nothing
  CHECK(cpu_runtime{}.load(selected(cpu_runtime{}, at.path())).error().code() == status_code::no_suchfile);
}

TEST_CASE("case 14: an installed package's model may be anywhere, with its weights beside it") {
  const package_folder at, elsewhere;
  write_adding(elsewhere / "abs/m.onnx", 5, "w.data");
  write_adding(at / "v2/m.onnx", 6, "w.data");
  const auto variant = [](const std::string& name, const std::string& model) {
    return variant_json(
        name, "\"ep\": \"CPUExecutionProvider\", \"executor_info\": {\"ort\": {\"model_file\": \"" + model + "\"}}");
  };
  at.make("v1");
  const std::string texts[] = {elsewhere / "abs/m.onnx", "../v2/m.onnx"};
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(texts[i]);
    const std::string manifest = manifest_of(variant("v1", texts[i]));
    at.write("manifest.json", manifest);
    CHECK(problem_of(at.path()).fault == package_fault::confinement);
    at.write("manifest.json", "{\"layout\": \"installed\", " + manifest.substr(1));
    const component_context c = selected(cpu_runtime{}, at.path());
    CHECK(added_by(cpu_runtime{}.load(c)) == std::to_string(5 + i));
    CHECK(added_by(cpu_runtime{}.load(c, {})) == std::to_string(5 + i));
  }
}

/// A manifest whose model has its weights in another folder than the model's; "": the option is not set.
std::string weights_in(const std::string& folder) {
  return R"("session_options": {"session.model_external_initializers_file_folder_path": ")" + folder + "\"}";
}

TEST_CASE("case 19: weights in a separate folder, and in a shared asset, with and without options") {
  const package_folder at, made;
  write_adding(made / "m.onnx", 8, "w.data");
  at.write("v/m.onnx", text_of_file(made / "m.onnx")).write("v/weights/w.data", text_of_file(made / "w.data"));
  at.write("asset/w.data", text_of_file(made / "w.data"));
  const std::string uri = *hash_folder(at / "asset");
  fs::create_directories(at / "shared_assets");
  fs::rename(at / "asset", at / ("shared_assets/sha256-" + uri.substr(7)));
  for (const std::string& folder : {std::string{"weights"}, uri}) {
    CAPTURE(folder);
    at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_cpu, {}, weights_in(folder)))));
    const component_context c = selected(cpu_runtime{}, at.path());
    CHECK(added_by(cpu_runtime{}.load(c)) == "8");
    CHECK(added_by(cpu_runtime{}.load(c, {})) == "8");
    session_options two;
    two.threads = 2;
    CHECK(added_by(cpu_runtime{}.load(c, two)) == "8");
  }
  at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_cpu))));
  const component_context beside = selected(cpu_runtime{}, at.path());  // the weights are not beside the model
  CHECK_FALSE(cpu_runtime{}.load(beside));
}

TEST_CASE("case 19: a missing folder of weights is FAIL, unless the caller sets another") {
  const package_folder at;
  write_adding(at / "v/m.onnx", 8, "w.data");
  at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_cpu, {}, weights_in("gone")))));
  const component_context c = selected(cpu_runtime{}, at.path());
  for (const auto& s : {cpu_runtime{}.load(c), cpu_runtime{}.load(c, {})}) {
    REQUIRE_FALSE(s);
    CHECK(s.error().code() == status_code::fail);
    CHECK(has(s.error().words(), "gone"));
  }
  session_options own;
  own.external_data_folder = at / "v";
  CHECK(added_by(cpu_runtime{}.load(c, own)) == "8");
}

TEST_CASE("case 20: a model file in a shared asset, with weights beside it there") {
  const package_folder at;
  write_adding(at / "asset/sub/m.onnx", 9, "w.data");
  const std::string uri = *hash_folder(at / "asset");
  fs::create_directories(at / "shared_assets");
  fs::rename(at / "asset", at / ("shared_assets/sha256-" + uri.substr(7)));
  const auto manifest = [](const std::string& text) {
    return manifest_of(variant_json(
        "v", R"("ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": ")" + text + "\"}}"));
  };
  at.write("manifest.json", manifest(uri + "/sub/m.onnx"));
  const component_context c = selected(cpu_runtime{}, at.path());
  CHECK(added_by(cpu_runtime{}.load(c)) == "9");
  CHECK(added_by(cpu_runtime{}.load(c, {})) == "9");
  const std::string unknown = "sha256:" + std::string(64, '0');
  for (const std::string& bad : {unknown + "/sub/m.onnx", uri + "/../x", uri + "//abs"}) {
    at.write("manifest.json", manifest(bad));
    CHECK(problem_of(at.path()).fault != package_fault::none);
  }
  std::string upper = uri;
  for (std::size_t i = 7; i < upper.size(); ++i) upper[i] = char(std::toupper(upper[i]));
  at.write("manifest.json", manifest(upper));  // a path, not an asset
  write_adding(at / ("v/" + upper), 10);
  CHECK(added_by(cpu_runtime{}.load(selected(cpu_runtime{}, at.path()))) == "10");
}

TEST_CASE("case 24: a selected variant without a model file is FAIL that names variant and component") {
  const package_folder at;
  at.write("manifest.json", manifest_of(cpu_variant("bare"))).make("bare");
  const component_context c = selected(cpu_runtime{}, at.path());
  for (const auto& s : {cpu_runtime{}.load(c), cpu_runtime{}.load(c, {})}) {
    REQUIRE_FALSE(s);
    CHECK(s.error().code() == status_code::fail);
    CHECK(has(s.error().words(), "'bare'"));
    CHECK(has(s.error().words(), "'main'"));
  }
}

TEST_CASE("case 25: sessions of a component outlive the package and each other") {
  std::optional<session> last;
  {
    const numbered_package pkg{variant_json("v", runs_on(on_cpu)), {{"v", 5}}};
    const component_context c = selected(cpu_runtime{}, pkg.at.path());  // the package object was destroyed
    const auto first = cpu_runtime{}.load(c);
    const component_context copy = c;
    result<session> second = cpu_runtime{}.load(copy, {});
    CHECK(added_by(first) == "5");
    CHECK(added_by(second) == "5");
    last = std::move(*second);
  }
  CHECK(int(added_by(*last)) == 5);  // the files were removed, too
}

TEST_CASE("threads load sessions of one component at once") {
  const package_folder at;
  write_adding(at / "v/m.onnx", 5, "w.data");
  at.write("manifest.json", manifest_of(variant_json("v", runs_on(on_cpu))));
  const component_context c = selected(cpu_runtime{}, at.path());
  std::vector<std::string> made(4);
  std::vector<std::thread> threads;
  for (std::string& each : made) threads.emplace_back([&each, mine = c] { each = added_by(cpu_runtime{}.load(mine)); });
  for (std::thread& t : threads) t.join();
  for (const std::string& each : made) CHECK(each == "5");
}

TEST_CASE("case 26: a folder is refused as a model, and the message explains how to load a package") {
  const numbered_package pkg{variant_json("v", runs_on(on_cpu)), {{"v", 5}}};
  const auto s = cpu_runtime{}.load(pkg.at.path());
  REQUIRE_FALSE(s);
  CHECK(s.error().code() == status_code::invalid_argument);
  CHECK(has(s.error().words(), "package::open"));
  CHECK(has(s.error().words(), "runtime::select"));
}

TEST_CASE("the early layout opens, selects and runs, also on a provider that lists no devices") {
  const std::string early = R"({"variant_name": "variant_1", "file": "mul_1.onnx",
    "constraints": {"ep": "example_ep", "device": "cpu", "architecture": "arch1"}})";
  const std::string early_2 = R"({"variant_name": "variant_2", "file": "mul_16.onnx",
    "constraints": {"ep": "example_ep", "device": "npu", "architecture": "arch2"}})";
  const package_folder with_metadata, flat;
  with_metadata.write("manifest.json", R"({"name": "old", "component_models": ["main"]})");
  with_metadata.write("models/main/metadata.json", R"({"model_variants": [)" + early + "," + early_2 + "]}");
  write_adding(with_metadata / "models/main/variant_1/mul_1.onnx", 1, "w.data");
  write_adding(with_metadata / "models/main/mul_16.onnx", 16, "w16.data");
  flat.write("manifest.json", R"({"name": "main", "components": [)" + early + "," + early_2 + "]}");
  write_adding(flat / "mul_1.onnx", 1, "w.data");
  write_adding(flat / "mul_16.onnx", 16, "w16.data");
  const runtime<example_provider, eps::cpu> with;
  for (const std::string& folder : {with_metadata.path(), flat.path()}) {
    const component_context c = selected(with, folder, using_providers({"example_ep"}));
    CHECK(c.variant().name == "variant_1");  // no criterion applies, so the first is chosen
    CHECK(c.devices().empty());
    const auto s = with.load(c);
    CHECK(added_by(s) == "1");
    CHECK(s->placements().at(0).provider == "example_ep");
    CHECK(none_fits(name_in(with.select(opened(folder), "main", using_providers({"cpu"})))));
    const auto last = [](const selection_request& r) {
      selection made;
      made.variant = &r.component.variants.back();
      return made;
    };
    CHECK(added_by(with.load(selected(with, folder, using_providers({"example_ep"}), last))) == "16");
  }
}

}  // namespace
}  // namespace cameo::test
