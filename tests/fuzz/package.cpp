// A fuzz target for model packages: for any JSON files, opening, checking and writing a package must end with success
// or a status, no path may lead out of the package, and the written package must be the same. An input has the texts of
// manifest.json, c/component.json, v/info.json and models/c/metadata.json, separated by zero bytes. Seeds:
// package_seeds.
#include <cameo/package/select.hpp>
#include <cameo/packages.hpp>

#include "file/held_folder.hpp"

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <algorithm>

namespace {

namespace fs = std::filesystem;

/// A temporary folder, in memory if the system has /dev/shm.
const fs::path& folder() {
  static const fs::path made = [] {
    const fs::path base = fs::exists("/dev/shm") ? fs::path{"/dev/shm"} : fs::temp_directory_path();
    fs::path path = base / ("cameo-fuzz-package-" + std::to_string(::getpid()));
    fs::create_directories(path / "in/c/v");
    fs::create_directories(path / "in/v");
    fs::create_directories(path / "in/models/c/v");
    fs::create_directories(path / "in/shared_assets" / ("sha256-" + std::string(64, 'a')));
    std::ofstream{path / "in/v/m.onnx"} << "model";
    std::ofstream{path / "in/models/c/v/m.onnx"} << "model";
    fs::create_symlink("../..", path / "in/c/up");
    std::atexit([] { fs::remove_all(folder()); });
    return path;
  }();
  return made;
}

void write(const char* below, std::string_view text) {
  std::ofstream{folder() / "in" / below, std::ios::binary} << text;
}

bool is_inside(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

/// Checks that a folder that was opened is inside of the package, unless the package is installed.
void check_opened(const cameo::package& p,
                  const cameo::result<std::shared_ptr<const cameo::detail::held_folder>>& folder) {
  if (!folder || p.is_installed()) return;
  const fs::path at = cameo::os::real_path((*folder)->handle());
  if (!is_inside(at.string(), fs::canonical(::folder() / "in").string())) std::abort();
}

void check_all(const cameo::package& p) {
  const std::string root = fs::canonical(folder() / "in").string();
  const cameo::device_facts device{"E", "cpu", "", {}, [](std::string_view) { return cameo::variant_fit::optimal; }};
  for (const cameo::package_component& c : p.components()) {
    (void)cameo::select_variant(p, c.name, std::span{&device, 1}, cameo::best_fit{true});
    for (const cameo::package_variant& v : c.variants) {
      check_opened(p, p.open_folder(v));
      for (const auto& [key, text] : v.option_paths) check_opened(p, p.open_folder(v, text));
      if (!v.model_file) continue;
      check_opened(p, p.open_folder_of(v, *v.model_file));
      const auto path = p.resolve(v.folder, *v.model_file, true);
      if (path && !p.is_installed() && !is_inside(fs::canonical(*path).string(), root)) std::abort();
      (void)p.read(v, *v.model_file);
    }
  }
}

bool same(const cameo::package& a, const cameo::package& b) {
  const auto names = [](const cameo::package& p) {
    std::string made = p.name().value_or("") + "\n" + std::string{p.metadata()};
    for (const cameo::package_component& c : p.components()) {
      made += "\n" + c.name + c.metadata;
      for (const cameo::package_variant& v : c.variants)
        made += "\n  " + v.name + v.ep.value_or("-") + v.device.value_or("-") + v.compatibility.value_or("-") +
                v.model_file.value_or("-") + v.metadata + v.unknown;
    }
    return made;
  };
  return names(a) == names(b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  for (const char* file : {"manifest.json", "c/component.json", "v/info.json", "models/c/metadata.json"}) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    write(file, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::string in = (folder() / "in").string(), out = (folder() / "out").string();
  std::vector<cameo::package_problem> problems;
  (void)cameo::package::validate(in, {true, true, true}, problems);
  cameo::package_problem why;
  auto p = cameo::package::open(in, {}, &why);
  if (bool(p) != (why.fault == cameo::package_fault::none)) std::abort();
  if (!p) return 0;
  check_all(*p);
  const auto again = cameo::package::open(in);
  if (!again || !same(*p, *again)) std::abort();
  if (p->is_installed()) return 0;
  const auto form = size % 2 ? cameo::package_form::dense : cameo::package_form::preserve;
  if (p->save_as(out, form) && !same(*p, *again)) std::abort();
  fs::remove_all(out);
  return 0;
}
