#pragma once
#include <cameo/package/select.hpp>
#include <cameo/packages.hpp>

#include <doctest/doctest.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <iterator>

namespace cameo::test {

/// A temporary folder for a package, which the destructor removes.
class package_folder {
 public:
  package_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "cameo-package-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  package_folder(const package_folder&) = delete;
  package_folder& operator=(const package_folder&) = delete;
  ~package_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const std::string& below) const { return path_ + "/" + below; }
  const std::string& path() const { return path_; }
  /// Writes a file, and creates its folders.
  const package_folder& write(const std::string& below, std::string_view text) const {
    const std::filesystem::path file = path_ + "/" + below;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << text;
    return *this;
  }
  const package_folder& make(const std::string& below) const {
    std::filesystem::create_directories(path_ + "/" + below);
    return *this;
  }
  const package_folder& link(const std::string& to, const std::string& below) const {
    std::filesystem::create_symlink(to, path_ + "/" + below);
    return *this;
  }

 private:
  std::string path_;
};

inline std::string text_of_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The paths and contents of all files below a folder.
inline std::map<std::string, std::string> files_below(const std::string& folder) {
  std::map<std::string, std::string> made;
  for (const auto& each : std::filesystem::recursive_directory_iterator{folder})
    if (each.is_regular_file())
      made[each.path().lexically_relative(folder).string()] = text_of_file(each.path().string());
  return made;
}

/// A manifest of one inline component "main" with these variants (JSON members).
inline std::string manifest_of(const std::string& variants) {
  return R"({"schema_version": "1.0", "components": {"main": {"variants": {)" + variants + "}}}}";
}
/// A JSON member "name": {fields}.
/// A variant for cpu whose model is the file "m.onnx".
inline package_variant plain_variant(const std::string& name) {
  package_variant v;
  v.name = name;
  v.ep = "CPUExecutionProvider";
  v.model_file = "m.onnx";
  return v;
}

inline std::string variant_json(const std::string& name, const std::string& fields) {
  return "\"" + name + "\": {" + fields + "}";
}

/// The first error of the package in a folder; fault `none` if there is none.
inline package_problem problem_of(const std::string& folder, const package_open_options& options = {}) {
  package_problem why;
  const result<package> opened = package::open(folder, options, &why);
  if (!opened) CHECK(opened.error().code() == status_code::fail);
  CHECK(bool(opened) == (why.fault == package_fault::none));
  return why;
}
/// The first error of a package that consists of a manifest.
inline package_problem problem_with(const std::string& manifest) {
  const package_folder folder;
  folder.write("manifest.json", manifest);
  return problem_of(folder.path());
}

inline package opened(const std::string& folder, const package_open_options& options = {}) {
  result<package> made = package::open(folder, options);
  REQUIRE_MESSAGE(made, made.error().words());
  return *std::move(made);
}

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// The devices of the acceptance cases: an NPU whose provider judges compatibility strings, and a CPU.
inline device_facts ref_npu() {
  const auto judge = [](std::string_view text) -> result<variant_fit> {
    if (text == "opt") return variant_fit::optimal;
    if (text == "old") return variant_fit::prefer_recompilation;
    if (text == "bad") return variant_fit::unsupported;
    if (text == "err") return status{status_code::fail, "cannot tell"};
    if (text == "throw") throw std::runtime_error{"thrown"};
    return variant_fit::not_applicable;
  };
  return {"RefNpuExecutionProvider", "npu", "Ref", {}, judge};
}
inline device_facts cpu_device() { return {"CPUExecutionProvider", "cpu", "", {}, {}}; }

/// The variant that is selected for a single device, or the error.
inline std::string chosen_in(const package& p, const std::string& component,
                             const device_facts& device = cpu_device()) {
  const result<selection> made = select_variant(p, component, {&device, 1});
  return made ? made->variant->name : std::string{made.error().words()};
}

inline std::string npu_variant(const std::string& name, const std::string& compatibility) {
  return variant_json(
      name, R"("ep": "RefNpuExecutionProvider", "device": "npu", "compatibility_string": ")" + compatibility + "\"");
}
inline std::string cpu_variant(const std::string& name, const std::string& more = {}) {
  return variant_json(name, "\"ep\": \"CPUExecutionProvider\"" + more);
}

}  // namespace cameo::test
