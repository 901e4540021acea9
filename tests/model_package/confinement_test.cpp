#include <cameo/packages.hpp>

#include "full_speed.hpp"
#include "packages.hpp"

#include "file/held_folder.hpp"
#include "package/json.hpp"

#include <sys/stat.h>

using namespace cameo;
using namespace cameo::test;

namespace {

std::string with_model(const std::string& file, const std::string& layout = "portable") {
  return R"({"schema_version": "1.0", "layout": ")" + layout +
         R"(", "components": {"main": {"variants": {"v1": {"executor_info": {"ort": {"model_file": ")" + file +
         "\"}}}}}}}";
}

package_fault fault_of_model(const package_folder& at, const std::string& file,
                             const std::string& layout = "portable") {
  at.write("pkg/manifest.json", with_model(file, layout));
  return problem_of(at / "pkg").fault;
}

/// Writes folders and links, to test both implementations of following a path.
void write_tree(const package_folder& at) {
  at.write("in/file", "inside").write("in/sub/deep/file", "deep").write("out/file", "outside").make("in/empty");
  at.link("file", "in/to_file")
      .link("sub/deep", "in/to_folder")
      .link("../out", "in/escape")
      .link("../out/file", "in/escape_file");
  at.link(at / "in/file", "in/absolute").link(at / "out/file", "in/absolute_out").link("loop_b", "in/loop_a");
  at.link("loop_a", "in/loop_b").link("nowhere", "in/dangling").link("../in/sub", "in/there_and_back");
  at.link("../../in/to_file", "in/sub/up").link("..", "in/parent").link("/", "in/top").link(".", "in/self");
  REQUIRE(::mkfifo((at / "in/pipe").c_str(), 0600) == 0);
}

}  // namespace

TEST_CASE("14: portable paths stay inside the package, however they are written") {
  const package_folder at;
  at.write("pkg/v1/m.onnx", "model").write("pkg/v2/m.onnx", "model").write("m.onnx", "outside");
  CHECK(fault_of_model(at, "m.onnx") == package_fault::none);
  for (const std::string& file : {std::string{"../v2/m.onnx"},
                                  at / "pkg/v1/m.onnx",
                                  std::string{"v1/../v1/m.onnx"},
                                  std::string{"../../m.onnx"},
                                  std::string{"C:m.onnx"},
                                  std::string{"..\\\\m.onnx"},
                                  std::string{"sub\\\\m.onnx"},
                                  std::string{"\\\\\\\\host\\\\m.onnx"},
                                  std::string{"nul.onnx"},
                                  std::string{"sub/COM1"},
                                  std::string{".. /m.onnx"},
                                  std::string{"sub./m.onnx"},
                                  std::string{"m.onnx\\u0000"},
                                  std::string{"m\\u202egnp.onnx"},
                                  std::string{"\\u2024\\u2024/m.onnx"},
                                  std::string{"\\uff0e\\uff0e/m.onnx"},
                                  std::string{"a\\u2215m.onnx"},
                                  std::string{"m\\u200b.onnx"},
                                  std::string{"COM\\u00b9"},
                                  std::string{"e\\u0301.onnx"},
                                  std::string{"\\u212b.onnx"},
                                  std::string{"q\\u0301\\u0323"},
                                  std::string{"\\u1100\\u1161"},
                                  std::string{"\\u2100"},
                                  std::string{"a\\u1680b"},
                                  std::string{"a\\u0001.onnx"}})
    CHECK_MESSAGE(fault_of_model(at, file) == package_fault::confinement, file);
  CHECK(fault_of_model(at, "") == package_fault::schema);
  // Names in every language are allowed, including accents that do not combine with their letter, and separate signs.
  for (const char* const file : {"\\u00e9\\u4e2d.onnx", "q\\u0323\\u0301", "\\u0b95\\u0bbe", "\\uac01", "\\u1ec7"})
    CHECK_MESSAGE(fault_of_model(at, file) == package_fault::none, file);
  CHECK(fault_of_model(at, "../v2/m.onnx", "installed") == package_fault::none);
  CHECK(fault_of_model(at, at / "pkg/v2/m.onnx", "installed") == package_fault::none);
  const package p = opened(at / "pkg");
  CHECK(p.read(p.components()[0].variants[0], at / "pkg/v2/m.onnx"));
}

TEST_CASE("names of variants, components and executors' files are paths, too") {
  const auto fault = [](const std::string& manifest) { return problem_with(manifest).fault; };
  CHECK(fault(manifest_of(variant_json("../up", ""))) == package_fault::confinement);
  CHECK(fault(manifest_of(variant_json("v", R"("variant_directory": "/etc")"))) == package_fault::confinement);
  CHECK(fault(manifest_of(variant_json("v", R"("executor_info": {"x": "/etc/passwd"})"))) ==
        package_fault::confinement);
  CHECK(fault(R"({"schema_version": "1.0", "components": {"c": "../c"}})") == package_fault::confinement);
  CHECK(fault(R"({"schema_version": "1.0", "components": {"c": "/etc/passwd"}})") == package_fault::confinement);
}

TEST_CASE("15: links out of the package are refused, for folders and files; links inside are followed") {
  const package_folder at;
  at.write("outside/m.onnx", "outside").make("pkg/v1").write("pkg/kept/m.onnx", "inside");
  at.link("../../outside/m.onnx", "pkg/v1/m.onnx").link("../kept/m.onnx", "pkg/v1/n.onnx");
  CHECK(fault_of_model(at, "m.onnx") == package_fault::confinement);
  CHECK(fault_of_model(at, "n.onnx") == package_fault::none);
  CHECK(fault_of_model(at, "m.onnx", "installed") == package_fault::none);
  at.link("../outside", "pkg/away");
  at.write("pkg/manifest.json", manifest_of(variant_json("v", R"("variant_directory": "away")")));
  CHECK(problem_of(at / "pkg").fault == package_fault::confinement);
  at.write("pkg/manifest.json", manifest_of(variant_json("away", "")));
  CHECK(problem_of(at / "pkg").fault == package_fault::confinement);
  at.write("outside/component.json", R"({"variants": {}})");
  at.write("pkg/manifest.json", R"({"schema_version": "1.0", "components": {"c": "away"}})");
  CHECK(problem_of(at / "pkg").fault == package_fault::confinement);
}

TEST_CASE("14 and 15: files that are replaced after the package was opened do not lead outside") {
  const package_folder at;
  at.write("outside/m.onnx", "outside").write("pkg/v1/m.onnx", "inside");
  at.write("pkg/manifest.json", with_model("m.onnx"));
  const package p = opened(at / "pkg");
  const package_variant& v = p.components()[0].variants[0];
  // The file is replaced by a link.
  std::filesystem::remove(at / "pkg/v1/m.onnx");
  at.link("../../outside/m.onnx", "pkg/v1/m.onnx");
  CHECK(p.read(v, "m.onnx").error().code() == status_code::fail);
  // The folder is replaced by a link.
  std::filesystem::remove_all(at / "pkg/v1");
  at.link("../outside", "pkg/v1");
  CHECK(p.read(v, "m.onnx").error().code() == status_code::fail);
  // The package's folder is replaced: files are read from the folder that was opened.
  std::filesystem::remove(at / "pkg/v1");
  at.write("pkg/v1/m.onnx", "inside");
  std::filesystem::rename(at / "pkg", at / "moved");
  at.link("outside", "pkg");
  const auto bytes = p.read(v, "m.onnx");
  REQUIRE_MESSAGE(bytes, bytes.error().words());
  CHECK((*bytes)->bytes().size() == std::string_view{"inside"}.size());
}

TEST_CASE("following a path part by part ends where the system ends, or reports that it leads out") {
  const package_folder at;
  write_tree(at);
  const result<detail::held_folder> root = detail::held_folder::open(at / "in");
  REQUIRE(root);
  struct row {
    std::string path;
    path_error error;
    os::file_kind kind;
  };
  const row rows[] = {
      {"file", path_error::none, os::file_kind::file},
      {"sub/deep/file", path_error::none, os::file_kind::file},
      {"sub", path_error::none, os::file_kind::folder},
      {"sub/", path_error::none, os::file_kind::folder},
      {"./sub//deep", path_error::none, os::file_kind::folder},
      {"sub/../file", path_error::none, os::file_kind::file},
      {"to_file", path_error::none, os::file_kind::file},
      {"to_folder/file", path_error::none, os::file_kind::file},
      {"sub/up", path_error::none, os::file_kind::file},
      {"there_and_back/deep/file", path_error::none, os::file_kind::file},
      {"absolute", path_error::none, os::file_kind::file},
      {"self/self/file", path_error::none, os::file_kind::file},
      {"pipe", path_error::none, os::file_kind::other},
      {"nothing", path_error::none, os::file_kind::nothing},
      {"sub/nothing/file", path_error::none, os::file_kind::nothing},
      {"file/more", path_error::none, os::file_kind::nothing},
      {"file/", path_error::none, os::file_kind::nothing},
      {"dangling", path_error::none, os::file_kind::nothing},
      {"escape", path_error::outside, os::file_kind::nothing},
      {"escape/file", path_error::outside, os::file_kind::nothing},
      {"escape/nothing", path_error::outside, os::file_kind::nothing},
      {"escape_file", path_error::outside, os::file_kind::nothing},
      {"absolute_out", path_error::outside, os::file_kind::nothing},
      {"parent", path_error::outside, os::file_kind::nothing},
      {"parent/in/file", path_error::none, os::file_kind::file},
      {"top/etc", path_error::outside, os::file_kind::nothing},
      {"loop_a", path_error::system, os::file_kind::nothing},
      {"../in/file", path_error::malformed, os::file_kind::nothing},
      {"/file", path_error::malformed, os::file_kind::nothing},
  };
  for (const row& r : rows)
    for (const follow how : {follow::kernel, follow::walk})
      for (const open_for use : {open_for::place, open_for::reading}) {
        const found_path found = root->find(external_data_path, r.path, use, {}, how);
        CHECK_MESSAGE(found.error == r.error, r.path);
        CHECK_MESSAGE(found.kind == r.kind, r.path);
        CHECK(bool(found.handle) == (r.kind != os::file_kind::nothing));
        if (r.kind != os::file_kind::file) continue;
        std::error_code error;
        CHECK(os::real_path(found.handle) == std::filesystem::canonical(at / ("in/" + r.path), error));
      }
  const result<detail::held_folder> other = detail::held_folder::open(at / "out");
  REQUIRE(other);
  CHECK(root->find(external_data_path, "escape/file", open_for::reading, {&other->id(), 1})
            .has_kind(os::file_kind::file));
  CHECK(root->find(external_data_path, "top/etc", open_for::place, {&other->id(), 1}).error == path_error::outside);
}

TEST_CASE("JSON that no writer makes is refused: deep nesting, equal keys, huge or truncated texts") {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(has(parse_json(deep).error, "nested deeper"));
  CHECK(has(parse_json(R"({"a": 1, "b": {"c": 1, "c": 2}})").error, "'c' is given twice"));
  CHECK(has(parse_json("1e999").error, "number"));
  CHECK(parse_json("123456789012345678901234567890").error.empty());
  CHECK(!parse_json("\"\xff\xfe\"").error.empty());
  CHECK(!parse_json("{\"a\": ").error.empty());
  std::string many = "{";
  for (int i = 0; i < 100000; ++i) many += (i ? ",\"k" : "\"k") + std::to_string(i) + "\": 0";
  CHECK(parse_json(many + "}").error.empty());
  CHECK(has(parse_json(many + ", \"k5\": 0}").error, "'k5' is given twice"));
  const package_problem doubled =
      problem_with(R"({"schema_version": "1.0", "components": {}, "components": {"a": {"variants": {}}}})");
  CHECK(doubled.fault == package_fault::schema);
  CHECK(problem_with(R"({"schema_version": "1.0", "components": {}, "additional_metadata": )" + deep + "}").fault ==
        package_fault::schema);
}

TEST_CASE("JSON of many values, long keys, or many times the same file is refused before it fills the memory") {
  std::string zeros = "[0";
  zeros.reserve(2 * most_json_values + 8);
  while (zeros.size() < 2 * most_json_values + 2) zeros += ",0";
  CHECK(has(parse_json(zeros + "]").error, "values"));
  if (full_speed) {
    std::string empty = "[{}";
    while (empty.size() < 3 * most_json_values + 2) empty += ",{}";
    CHECK(has(parse_json(empty + "]").error, "values"));
  }
  CHECK(has(parse_json("{\"" + std::string(most_json_key + 1, 'k') + "\": 0}").error, "key"));
  const package_folder at;
  at.write("c.json", R"({"variants": {}})" + std::string(std::size_t{4} << 20, ' '));
  std::string components;
  for (int i = 0; i < 100; ++i) components += (i ? ", \"c" : "\"c") + std::to_string(i) + R"(": "c.json")";
  at.write("manifest.json", R"({"schema_version": "1.0", "components": {)" + components + "}}");
  const package_problem why = problem_of(at.path());
  CHECK(why.fault == package_fault::schema);
  CHECK(has(why.words, "bytes of JSON"));
}

TEST_CASE("a manifest that is a pipe, a folder or a link out is refused without waiting for it") {
  const package_folder at;
  REQUIRE(::mkfifo((at / "manifest.json").c_str(), 0600) == 0);
  CHECK(problem_of(at.path()).fault != package_fault::none);
  std::filesystem::remove(at / "manifest.json");
  at.make("manifest.json");
  CHECK(problem_of(at.path()).fault == package_fault::not_found);
  std::filesystem::remove(at / "manifest.json");
  const package_folder other;
  other.write("m", R"({"schema_version": "1.0", "components": {}})");
  at.link(other / "m", "manifest.json");
  CHECK(problem_of(at.path()).fault == package_fault::confinement);
}
