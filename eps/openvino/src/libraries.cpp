// Which libraries are loaded, and from where. Nothing of the SDK is needed here.
#include "libraries.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include <dlfcn.h>

CAMEO_BEGIN_NAMESPACE
namespace eps::openvino_detail {
namespace {

/// The folders that the loader looks through first, as the environment lists them.
std::vector<std::string> library_path() {
  std::vector<std::string> folders;
  const char* const text = std::getenv("LD_LIBRARY_PATH");
  if (!text || !*text) return folders;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find_first_of(":;");
    folders.emplace_back(rest.substr(0, end));
    if (end == rest.npos) return folders;
    rest.remove_prefix(end + 1);
  }
}

bool is_absolute(std::string_view path) { return path.starts_with('/'); }

void* open(const std::string& file, std::string& why) {
  if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const char* const words = dlerror();
  why.append(why.empty() ? "" : "; ").append(words ? words : file.c_str());
  return nullptr;
}

/// A name alone. Where the environment has the loader look through a folder that is not absolute (an empty one is the
/// working folder, and comes about by accident), only the others are looked through.
void* open_by_name(const std::string& name, std::string& why) {
  const std::vector<std::string> folders = library_path();
  bool is_safe = true;
  for (const std::string& folder : folders) is_safe &= is_absolute(folder);
  if (is_safe) return open(name, why);
  for (const std::string& folder : folders)
    if (is_absolute(folder))
      if (void* const library = open(folder + "/" + name, why)) return library;
  why.append(why.empty() ? "" : "; ").append(name);
  why.append(": LD_LIBRARY_PATH has a folder that is not absolute, so that nothing is looked for by its name alone");
  return nullptr;
}

}  // namespace

std::string folder_of_this_code() {
  // dladdr() says of a program what it was called by, which need not be a path at all. The system knows its file.
  const auto here = reinterpret_cast<std::uintptr_t>(&is_absolute);
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields{line};  // "first-last rights offset device inode   /path"
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    if (!(fields >> std::hex >> first >> dash >> last) || here < first || here >= last) continue;
    const std::size_t path = line.find('/');
    return path == line.npos ? std::string{} : line.substr(path, line.rfind('/') - path);
  }
  return {};
}

void* first_of(std::span<const std::string> files, std::string& why) {
  for (const std::string& file : files) {
    void* library = nullptr;
    if (file.find('/') == file.npos) library = open_by_name(file, why);
    else if (is_absolute(file)) library = open(file, why);
    else why.append(why.empty() ? "" : "; ").append(file).append(": not an absolute path");
    if (library) return library;
  }
  return nullptr;
}

std::vector<std::string> places_of(const std::string& name) {
  std::vector<std::string> files;
  if (const std::string here = folder_of_this_code(); !here.empty()) {
    files.push_back(here + "/" + name);
    files.push_back(here + "/" CAMEO_LIBRARIES_FROM_PROGRAMS "/" + name);
  }
  files.push_back(CAMEO_LIBRARIES_INSTALLED "/" + name);
  files.push_back(name);
  return files;
}

}  // namespace eps::openvino_detail
CAMEO_END_NAMESPACE
