// Tests opening packages. The numbers in the names of test cases are those of the format's acceptance cases.
#include <cameo/packages.hpp>

#include "packages.hpp"

#include "file/held_folder.hpp"

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

const std::string hex_a(64, 'a'), hex_b(64, 'b');

package_fault fault_of_version(const std::string& json) {
  return problem_with(R"({"schema_version": )" + json + R"(, "components": {}})").fault;
}

}  // namespace

TEST_CASE("27: a package has the contents of its manifest, in the order of the file") {
  const package_folder folder;
  folder.write("manifest.json", R"({"schema_version": "1.0", "package_name": "toy", "package_version": "3",
    "description": "words", "additional_metadata": {"io": [1, 2]},
    "components": {"zeta": {"variants": {"b": {"ep": "B", "device": "npu", "compatibility_string": "gen=2",
        "additional_metadata": 7, "executor_info": {"ort": {"model_file": "m.onnx", "session_options": {"k": "v"},
        "provider_options": {"p": "q"}, "whatever": [1]}, "other": {"x": true}}}, "a": {}}}, "alpha": {"variants": {}}}})");
  folder.write("b/m.onnx", "model");
  const package p = opened(folder.path());
  CHECK(p.schema_version() == std::pair{1, 0});
  CHECK(p.layout() == package_layout::schema_1);
  CHECK(!p.is_installed());
  CHECK(p.name() == "toy");
  CHECK(p.version() == "3");
  CHECK(p.description() == "words");
  CHECK(p.metadata() == R"({"io":[1,2]})");
  REQUIRE(p.components().size() == 2);
  CHECK(p.components()[0].name == "zeta");
  CHECK(p.components()[1].name == "alpha");
  const package_component& zeta = p.components()[0];
  REQUIRE(zeta.variants.size() == 2);
  const package_variant& b = zeta.variants[0];
  CHECK(b.name == "b");
  CHECK(zeta.variants[1].name == "a");
  CHECK(b.ep == "B");
  CHECK(b.device == "npu");
  CHECK(b.compatibility == "gen=2");
  CHECK(b.metadata == "7");
  CHECK(b.folder == "b");
  CHECK(b.model_file == "m.onnx");
  CHECK(b.session_options == package_options_list{{"k", "v"}});
  CHECK(b.provider_options == package_options_list{{"p", "q"}});
  REQUIRE(b.executors.size() == 2);
  CHECK(b.executors[1].name == "other");
  CHECK(b.executors[1].json == R"({"x":true})");
  CHECK(!zeta.variants[1].ep);
  CHECK(zeta.variants[1].folder.empty());
  const auto model = p.read(b, *b.model_file);
  REQUIRE_MESSAGE(model, model.error().words());
  CHECK((*model)->bytes().size() == 5);
}

TEST_CASE("27: JSON in a package that other programs use is kept, with its escapes") {
  static constexpr std::string_view carried =
      R"({"quote":"\"","slash":"\\","line":"\n","low":"\u001f","beyond":"\u007f","letters":"caf\u00e9","empty":"",)"
      R"("list":[1,-2,1.5,1e+300,true,false,null,[],{}],"deep":{"a":[[{"b":{"c":["d"]}}]]},"\"":18446744073709551615})";
  // Letters of other languages need no escape, nor does the character 127.
  std::string kept{carried};
  kept.replace(kept.find("\\u007f"), 6, "\x7f").replace(kept.find("\\u00e9"), 6, "\xc3\xa9");
  const package_folder folder;
  folder.write("manifest.json",
               R"({"schema_version": "1.0", "components": {}, "additional_metadata": )" + std::string{carried} + "}");
  CHECK(opened(folder.path()).metadata() == kept);
}

TEST_CASE("27: unknown names are INVALID_ARGUMENT, and the message lists the known ones") {
  const package_folder folder;
  folder.write("manifest.json", manifest_of(variant_json("one", "")));
  const package p = opened(folder.path());
  CHECK(p.component("main"));
  CHECK(p.component("Main").error().code() == status_code::invalid_argument);
  CHECK(has(p.component("Main").error().words(), "it has main"));
  CHECK(p.variant("main", "one"));
  CHECK(p.variant("main", "two").error().code() == status_code::invalid_argument);
  CHECK(p.variant("other", "one").error().code() == status_code::invalid_argument);
  CHECK(p.find("other") == nullptr);
}

TEST_CASE("9: schema versions are whole numbers or texts of version 1; others are refused with a message") {
  for (const char* good : {"\"1\"", "\"1.0\"", "\"1.7\"", "1"}) CHECK(fault_of_version(good) == package_fault::none);
  for (const char* other : {"\"2.0\"", "\"0.9\"", "2"}) CHECK(fault_of_version(other) == package_fault::version);
  for (const char* bad : {"\"abc\"", "\"1.0.0\"", "\"1.x\"", "\"\"", "1.0", "null", "-1", "\"-1\"", "\"1.\"", "\" 1\"",
                          "\"99999999999999999999\"", "99999999999999999999", "[1]"})
    CHECK_MESSAGE(fault_of_version(bad) == package_fault::schema, bad);
  const package_problem absent = problem_with(R"({"components": {}})");
  CHECK(absent.fault == package_fault::schema);
  CHECK(has(absent.words, "schema_version"));
}

TEST_CASE("10: an unknown field is an error that names it, and is kept in a later minor version") {
  const auto with = [](const std::string& version, const std::string& top, const std::string& in_variant) {
    return R"({"schema_version": ")" + version + "\"" + top + R"(, "components": {"main": {"variants": {"v": {)" +
           in_variant + "}}}}}";
  };
  package_problem why = problem_with(with("1.0", R"(, "novel": 1)", ""));
  CHECK(why.fault == package_fault::schema);
  CHECK(why.file == "manifest.json");
  CHECK(why.at == "/novel");
  CHECK(has(why.words, "'novel'"));
  why = problem_with(with("1.0", "", R"("constraints/~": {})"));
  CHECK(why.at == "/components/main/variants/v/constraints~1~0");
  const package_folder folder;
  folder.write("manifest.json", with("1.9", R"(, "novel": {"a": 1})", R"("later": 2)"));
  const package p = opened(folder.path());
  CHECK(p.schema_version() == std::pair{1, 9});
  CHECK(p.unknown() == R"({"novel":{"a":1}})");
  CHECK(p.components()[0].variants[0].unknown == R"({"later":2})");
}

TEST_CASE("11: layouts, components and variants of other kinds are schema errors with their location") {
  CHECK(problem_with(R"({"schema_version": "1.0", "layout": "zip", "components": {}})").at == "/layout");
  CHECK(problem_with(R"({"schema_version": "1.0"})").fault == package_fault::schema);
  CHECK(problem_with(R"({"schema_version": "1.0", "components": []})").at == "/components");
  CHECK(problem_with(R"({"schema_version": "1.0", "components": {}})").fault == package_fault::none);
  CHECK(problem_with(R"({"schema_version": "1.0", "components": {"c": 1}})").at == "/components/c");
  CHECK(problem_with(R"({"schema_version": "1.0", "components": {"c": {}}})").fault == package_fault::schema);
  CHECK(problem_with(R"({"schema_version": "1.0", "components": {"c": {"variants": []}}})").at ==
        "/components/c/variants");
  CHECK(problem_with(manifest_of(R"("v": [])")).at == "/components/main/variants/v");
  CHECK(problem_with(manifest_of(R"("v": {"ep": 1})")).at == "/components/main/variants/v/ep");
  CHECK(problem_with(manifest_of(R"("v": {"executor_info": {"ort": []}})")).at ==
        "/components/main/variants/v/executor_info/ort");
  const package_folder empty;
  empty.write("manifest.json", R"({"schema_version": "1.0", "components": {}})");
  CHECK(select_variant(opened(empty.path()), "main", {}).error().code() == status_code::invalid_argument);
  for (const char* text : {"", "[]", "{", "nonsense", "{} {}", "\"x\"", "{\"schema_version\": \"1.0\", }"})
    CHECK_MESSAGE(problem_with(text).fault == package_fault::schema, text);
}

TEST_CASE("a file, a missing path and a folder without manifest are refused as packages") {
  const package_folder folder;
  CHECK(problem_of(folder.path()).fault == package_fault::not_found);
  CHECK(problem_of(folder / "nowhere").fault == package_fault::not_found);
  folder.write("file", "x");
  CHECK(problem_of(folder / "file").fault == package_fault::not_found);
}

TEST_CASE("12: external components, by folder and by file, have their variants in the folder of the JSON") {
  const package_folder folder;
  folder.write("manifest.json",
               R"({"schema_version": "1.0", "components": {"d": "decoder", "e": "parts/encoder.json"}})");
  folder.write("decoder/component.json", R"({"component_name": "d", "variants": {"npu": {}}})").make("decoder/npu");
  folder.write("parts/encoder.json", R"({"variants": {"cpu": {"variant_directory": "plain"}}})").make("parts/plain");
  const package p = opened(folder.path());
  CHECK(p.components()[0].file == "decoder/component.json");
  CHECK(p.components()[0].component_name == "d");
  CHECK(p.components()[0].variants[0].folder == "decoder/npu");
  CHECK(p.components()[1].variants[0].folder == "parts/plain");
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {"d": "empty"}})").make("empty");
  CHECK(problem_of(folder.path()).fault == package_fault::not_found);
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {"d": "decoder"}})");
  folder.write("decoder/component.json", R"({"variants": {"npu": {"ep": 5}}})");
  const package_problem why = problem_of(folder.path());
  CHECK(why.file == "decoder/component.json");
  CHECK(why.at == "/variants/npu/ep");
}

TEST_CASE("13: an explicit variant folder must exist; a missing default one is an error when its model is read") {
  CHECK(problem_with(manifest_of(variant_json("v", R"("variant_directory": "gone")"))).fault ==
        package_fault::not_found);
  const package_folder folder;
  folder.write("manifest.json",
               manifest_of(variant_json("v", R"("executor_info": {"ort": {"model_file": "m.onnx"}})")));
  const package p = opened(folder.path());
  const package_variant& v = p.components()[0].variants[0];
  CHECK(v.folder.empty());
  CHECK(p.read(v, *v.model_file).error().code() == status_code::no_suchfile);
}

TEST_CASE("16: executor information is in a file that must exist, or inline; other names are ignored") {
  const auto with = [](const std::string& info) {
    return manifest_of(variant_json("v", "\"executor_info\": " + info));
  };
  CHECK(problem_with(with(R"({"ort": "gone.json"})")).fault == package_fault::not_found);
  CHECK(problem_with(with(R"({"other": "gone.json"})")).fault == package_fault::not_found);
  CHECK(problem_with(with(R"({"ort": [1]})")).fault == package_fault::schema);
  CHECK(problem_with(with(R"({"ort": {"unheard_of": 1}, "another": {"session_options": 1}})")).fault ==
        package_fault::none);
  const package_folder folder;
  folder.write("manifest.json", with(R"({"ort": "sub/info.json"})"));
  folder.write("v/sub/info.json", R"({"model_file": "m.onnx"})");
  const package p = opened(folder.path());
  CHECK(p.components()[0].variants[0].executors[0].file == "sub/info.json");
  CHECK(p.components()[0].variants[0].model_file == "m.onnx");
  folder.write("v/sub/info.json", R"({"model_file": 1})");
  CHECK(problem_of(folder.path()).file == "v/sub/info.json");
}

TEST_CASE("17: session options are texts, and a package must not set some of them") {
  const auto with = [](const std::string& options) {
    return problem_with(
        manifest_of(variant_json("v", R"("executor_info": {"ort": {"session_options": {)" + options + "}}}")));
  };
  CHECK(with(R"("session.intra_op_num_threads": "1")").fault == package_fault::none);
  CHECK(with(R"("session.intra_op_num_threads": 1)").fault == package_fault::schema);
  for (const std::string key :
       {"session.optimized_model_filepath", "session.enable_profiling", "session.debug_layout_transformation",
        "session.collect_node_memory_stats_to_file", "ep.context_enable"}) {
    const package_problem why = with("\"" + key + R"(": "1")");
    CHECK(why.fault == package_fault::schema);
    CHECK(has(why.words, key));
    CHECK(has(why.words, "'v'"));
  }
}

TEST_CASE("19: options that are paths are resolved and confined") {
  const package_folder folder;
  const std::string key = "session.model_external_initializers_file_folder_path";
  const auto with = [&](const std::string& value) {
    return manifest_of(
        variant_json("v", R"("executor_info": {"ort": {"session_options": {")" + key + "\": \"" + value + "\"}}}"));
  };
  folder.write("manifest.json", with("weights")).make("v/weights");
  const std::string root = std::filesystem::canonical(folder.path()).string();
  CHECK(opened(folder.path()).components()[0].variants[0].session_options[0].second == root + "/v/weights");
  folder.write("manifest.json", with("sha256:" + hex_a)).make("shared_assets/sha256-" + hex_a);
  CHECK(opened(folder.path()).components()[0].variants[0].session_options[0].second ==
        root + "/shared_assets/sha256-" + hex_a);
  folder.write("manifest.json", with("../.."));
  CHECK(problem_of(folder.path()).fault == package_fault::confinement);
}

TEST_CASE("20: shared assets are known or unknown; texts that only look like one are paths") {
  const package_folder folder;
  const auto with_model = [&](const std::string& file) {
    folder.write("manifest.json",
                 manifest_of(variant_json("v", R"("executor_info": {"ort": {"model_file": ")" + file + "\"}}")));
    return problem_of(folder.path()).fault;
  };
  folder.write("shared_assets/sha256-" + hex_a + "/sub/m.onnx", "model");
  CHECK(with_model("sha256:" + hex_a + "/sub/m.onnx") == package_fault::none);
  const package p = opened(folder.path());
  const package_variant& v = p.components()[0].variants[0];
  CHECK(p.read(v, *v.model_file));
  CHECK(with_model("sha256:" + hex_b) == package_fault::not_found);
  CHECK(with_model("sha256:" + hex_a + "/../x") == package_fault::confinement);
  CHECK(with_model("sha256:" + hex_a + "//abs") == package_fault::confinement);
  CHECK(with_model("sha256:" + std::string(64, 'A')) == package_fault::none);  // a relative path that does not exist
}

TEST_CASE("21: the manifest has the path of an asset, which is inside a portable package") {
  const package_folder folder;
  folder.make("elsewhere");
  const auto with_override = [&](const std::string& layout, const std::string& path) {
    folder.write("manifest.json", R"({"schema_version": "1.0", "layout": ")" + layout +
                                      R"(", "components": {}, "shared_assets": {"sha256:)" + hex_a + "\": \"" + path +
                                      "\"}}");
    return problem_of(folder.path()).fault;
  };
  CHECK(with_override("portable", "elsewhere") == package_fault::none);
  CHECK(opened(folder.path()).assets()[0].path == "elsewhere");
  CHECK(with_override("portable", "../x") == package_fault::confinement);
  CHECK(with_override("portable", folder / "elsewhere") == package_fault::confinement);
  CHECK(with_override("installed", folder / "elsewhere") == package_fault::none);
  CHECK(opened(folder.path()).resolve({}, "sha256:" + hex_a, true).error().words() == "");
}

TEST_CASE("19: folders that a variant names are opened: its own, its model's, an asset, that of an option") {
  const package_folder folder;
  const std::string weights = "session.model_external_initializers_file_folder_path", asset = "sha256:" + hex_a;
  folder.write("manifest.json", manifest_of(variant_json("v", R"("executor_info": {"ort": {"model_file": "sub/m.onnx",
                   "session_options": {"k": "v", ")" + weights + R"(": "weights"}}})")));
  folder.make("v/weights/deep").make("v/sub").write("shared_assets/sha256-" + hex_a + "/all/m.onnx", "model");
  const package p = opened(folder.path());
  const package_variant& v = p.components()[0].variants[0];
  CHECK(v.option_paths == package_options_list{{weights, "weights"}});
  const std::string root = std::filesystem::canonical(folder.path()).string();
  const auto path = [](const auto& held) { return held ? (*held)->path() : std::string{held.error().name()}; };
  CHECK(path(p.open_folder(v)) == root + "/v");
  CHECK(path(p.open_folder_of(v, *v.model_file)) == root + "/v/sub");
  CHECK(path(p.open_folder_of(v, "m.onnx")) == root + "/v");
  CHECK(path(p.open_folder(v, v.option_paths[0].second)) == root + "/v/weights");
  CHECK(path(p.open_folder(v, asset)) == root + "/shared_assets/sha256-" + hex_a);
  CHECK(path(p.open_folder_of(v, asset + "/all/m.onnx")) == root + "/shared_assets/sha256-" + hex_a + "/all");
  CHECK(path(p.open_folder(v, "gone")) == "NO_SUCHFILE");
  CHECK(path(p.open_folder(v, asset + "/all/m.onnx")) == "NO_SUCHFILE");
  CHECK(path(p.open_folder(v, "sha256:" + hex_b)) == "FAIL");
  CHECK(path(p.open_folder(v, "../v")) == "FAIL");
}

TEST_CASE("13 and 20: in a missing variant's folder there is no file, even if its name exists elsewhere") {
  const package_folder folder;
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {"c": "c"}})");
  folder.write("c/component.json", R"({"variants": {"v": {}}})").write("v/m.onnx", "another's");
  const std::string in_asset = "sha256:" + hex_a + "/m.onnx";
  folder.write("shared_assets/sha256-" + hex_a + "/m.onnx", "model");
  const package p = opened(folder.path());
  const package_variant& v = p.components()[0].variants[0];
  CHECK(p.read(v, "m.onnx").error().code() == status_code::no_suchfile);
  CHECK(p.open_folder(v).error().code() == status_code::no_suchfile);
  CHECK(p.read(v, in_asset));
  CHECK(p.open_folder_of(v, in_asset));
}

TEST_CASE("23: the hash of a folder depends on names and contents, not on order or empty folders") {
  const package_folder folder;
  folder.write("one/a/x", "1").write("one/y", "2").write("two/y", "2").write("two/a/x", "1");
  const result<std::string> one = hash_folder(folder / "one");
  REQUIRE_MESSAGE(one, one.error().words());
  CHECK(*one == *hash_folder(folder / "two"));
  // This command prints the expected hash:
  // `printf '%s  a/x\n%s  y\n' $(printf 1 | sha256sum | cut -c-64) $(printf 2 | sha256sum | cut -c-64) | sha256sum`
  CHECK(*one == "sha256:77fa57188c8539abfca5acd36a3112d6db88650af84be2a108c52f38d8a515bb");
  folder.make("two/empty/deeper");
  CHECK(*one == *hash_folder(folder / "two"));
  std::filesystem::rename(folder / "two/y", folder / "two/z");
  CHECK(*one != *hash_folder(folder / "two"));
  folder.link("y", "one/link");
  CHECK(hash_folder(folder / "one").error().code() == status_code::invalid_argument);
  folder.write("three/\u00e9", "1").write("four/e\u0301", "1");  // some systems consider these names equal
  CHECK(hash_folder(folder / "three"));
  CHECK(hash_folder(folder / "four").error().code() == status_code::invalid_argument);
  CHECK(hash_folder(folder / "nowhere").error().code() == status_code::no_suchfile);
}

TEST_CASE("22 and 29: a package with an asset of another hash than its name opens, unless assets are verified") {
  const package_folder folder;
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {}, "novel": 1})");
  folder.write("shared_assets/sha256-" + hex_a + "/w", "weights");
  std::vector<package_problem> found;
  CHECK(package::validate(folder.path(), {}, found));  // an unknown field is only a warning
  REQUIRE(found.size() == 1);
  CHECK(!found[0].is_error);
  CHECK(found[0].at == "/novel");
  CHECK(package::validate(folder.path(), {true, false, false}, found));
  CHECK(found.empty());
  CHECK(package::validate(folder.path(), {true, true, true}, found).code() == status_code::fail);
  REQUIRE(found.size() == 2);
  CHECK(found[1].fault == package_fault::integrity);
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {}})");
  CHECK(problem_of(folder.path()).fault == package_fault::none);
  package_open_options options;
  options.verify_assets = true;
  CHECK(problem_of(folder.path(), options).fault == package_fault::integrity);
  const std::string uri = *hash_folder(folder / ("shared_assets/sha256-" + hex_a));
  std::filesystem::rename(folder / ("shared_assets/sha256-" + hex_a),
                          folder / ("shared_assets/sha256-" + uri.substr(7)));
  CHECK(problem_of(folder.path(), options).fault == package_fault::none);
}

TEST_CASE("29: validation reports all errors, not only the first") {
  const package_folder folder;
  folder.write("manifest.json", manifest_of(R"("a": {"ep": 1}, "b": {"device": "tpu"}, "c": 3)"));
  std::vector<package_problem> found;
  CHECK(!package::validate(folder.path(), {}, found));
  const auto count = [&](std::string_view at, bool is_error) {
    return std::count_if(found.begin(), found.end(),
                         [&](const package_problem& p) { return p.at == at && p.is_error == is_error; });
  };
  CHECK(count("/components/main/variants/a/ep", true) == 1);
  CHECK(count("/components/main/variants/b/device", false) == 1);
  CHECK(count("/components/main/variants/b", true) == 1);  // there is no folder
  CHECK(count("/components/main/variants/c", true) == 1);
}

TEST_CASE("a package of ten thousand variants opens") {
  const package_folder folder;
  std::string variants;
  for (int i = 0; i < 10000; ++i) {
    const std::string name = "variant_" + std::to_string(i);
    variants +=
        (i ? "," : "") +
        variant_json(name, R"("ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "m.onnx"}})");
    std::filesystem::create_directory(folder / name);
  }
  folder.write("manifest.json", manifest_of(variants));
  const package p = opened(folder.path());
  CHECK(p.components()[0].variants.size() == 10000);
  CHECK(p.components()[0].variants[9999].folder == "variant_9999");
}

TEST_CASE("links in a folder with many variants are followed, and missing folders are errors") {
  const package_folder folder;
  std::string variants;
  for (int i = 0; i < 300; ++i)
    variants += variant_json("v" + std::to_string(i), R"("executor_info": {"ort": {"model_file": "m.onnx"}})") + ",";
  folder.write("pkg/v299/m.onnx", "model").make("elsewhere").link("v299", "pkg/v298");
  folder.write("pkg/manifest.json", manifest_of(variants + variant_json("last", "")));
  const package p = opened(folder / "pkg");
  CHECK(p.components()[0].variants[299].folder == "v299");
  CHECK(p.components()[0].variants[298].folder == "v298");
  CHECK(p.components()[0].variants[297].folder.empty());
  folder.link("../elsewhere", "pkg/v297");
  CHECK(problem_of(folder / "pkg").fault == package_fault::confinement);
  std::filesystem::remove(folder / "pkg/v297");
  folder.write("outside.onnx", "outside").make("pkg/v296").link("../../outside.onnx", "pkg/v296/m.onnx");
  const package linked = opened(folder / "pkg");
  CHECK(linked.read(linked.components()[0].variants[296], "m.onnx").error().code() == status_code::fail);
  std::vector<package_problem> found;
  CHECK(!package::validate(folder / "pkg", {}, found));
  CHECK(std::any_of(found.begin(), found.end(), [](const package_problem& each) {
    return each.fault == package_fault::confinement && has(each.at, "v296");
  }));
}

TEST_CASE("folders whose names differ only in case are errors, and edits refuse such names") {
  const package_folder folder, from;
  folder.write("manifest.json", manifest_of(variant_json("cpu", "") + "," + variant_json("CPU", "")));
  folder.make("cpu").make("CPU");
  std::vector<package_problem> found;
  CHECK(!package::validate(folder.path(), {}, found));
  CHECK(std::any_of(found.begin(), found.end(),
                    [](const package_problem& each) { return each.is_error && has(each.words, "'cpu' and 'CPU'"); }));
  const package_folder greek;
  greek.write("manifest.json", manifest_of(variant_json("\u03c3\u03bf\u03c6\u03cc\u03c2", "") + "," +
                                           variant_json("\u03a3\u039f\u03a6\u038c\u03a3", "")));
  greek.make("\u03c3\u03bf\u03c6\u03cc\u03c2").make("\u03a3\u039f\u03a6\u038c\u03a3");
  CHECK(!package::validate(greek.path(), {}, found));
  CHECK(std::any_of(found.begin(), found.end(),
                    [](const package_problem& each) { return each.is_error && has(each.words, "for the same"); }));
  from.write("m.onnx", "model");
  package p = *package::make("names");
  REQUIRE(p.add_component("main"));
  CHECK(p.add_component("Main").code() == status_code::invalid_argument);
  package_variant v;
  v.model_file = "m.onnx";
  v.name = "cpu";
  REQUIRE(p.add_variant("main", v, from.path()));
  v.name = "stra\u00dfe";
  REQUIRE(p.add_variant("main", v, from.path()));
  for (const char* name : {"CPU", "STRASSE", "Stra\u1e9ee", "manifest.json", "Manifest.JSON", "component.json",
                           "component-2.json", "shared_assets", ".cameo.lock", ".cpu.1.2.tmp"}) {
    v.name = name;
    CHECK_MESSAGE(p.add_variant("main", v, from.path()).code() == status_code::invalid_argument, name);
  }
  v.name = "missing";
  v.model_file = "n.onnx";
  const status missing = p.add_variant("main", v, from.path());
  CHECK(missing.code() == status_code::invalid_argument);
  CHECK_MESSAGE(has(missing.words(), "'n.onnx'"), missing.words());
  // A variant of another component may have a name that differs only in case: it is in another folder.
  REQUIRE(p.add_component("other"));
  v.name = "Cpu";
  v.model_file = "m.onnx";
  REQUIRE(p.add_variant("other", v, from.path()));
  REQUIRE(p.save_as(folder / "saved"));
  CHECK(package::validate(folder / "saved", {}, found));
  CHECK(opened(folder / "saved").components()[1].variants[0].folder == "Cpu-2");
}

TEST_CASE("a new external component is written to a separate file, with its variants in the same folder") {
  const package_folder at, from;
  from.write("m.onnx", "model");
  package p = *package::make("external");
  REQUIRE(p.add_component("decoder", true));
  CHECK(p.add_component("shared_assets", true).code() == status_code::invalid_argument);
  package_variant v;
  v.name = "cpu";
  v.model_file = "m.onnx";
  REQUIRE(p.add_variant("decoder", v, from.path()));
  REQUIRE(p.save_as(at / "pkg"));
  REQUIRE(p.add_component("encoder", true));
  REQUIRE(p.add_variant("encoder", v, from.path()));
  const status committed = p.commit();
  REQUIRE_MESSAGE(committed, committed.words());
  const package read = opened(at / "pkg");
  CHECK(read.components()[0].file == "decoder/component.json");
  CHECK(read.components()[1].file == "encoder/component.json");
  CHECK(text_of_file(at / "pkg/decoder/cpu/m.onnx") == "model");
  CHECK(text_of_file(at / "pkg/encoder/cpu/m.onnx") == "model");
}
