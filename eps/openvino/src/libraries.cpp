// Finds and loads libraries. It does not need the SDK's headers.
#include "libraries.hpp"

#include <cstdlib>
#include <string_view>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

/// The folders that the dynamic loader searches first, from the environment.
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

os::library open(const std::string& file, std::string& why) {
  const result<os::library> loaded = os::library::load(file);
  if (loaded) return *loaded;
  why.append(why.empty() ? "" : "; ").append(loaded.error().words());
  return {};
}

/// Loads a library by its name. If the environment's search path contains a folder that is not absolute (an empty one,
/// often there by accident, is the working folder), only its absolute folders are searched.
os::library open_by_name(const std::string& name, std::string& why) {
  const std::vector<std::string> folders = library_path();
  bool is_safe = true;
  for (const std::string& folder : folders) is_safe &= is_absolute(folder);
  if (is_safe) return open(name, why);
  for (const std::string& folder : folders)
    if (is_absolute(folder))
      if (const os::library found = open(folder + "/" + name, why)) return found;
  why.append(why.empty() ? "" : "; ").append(name);
  why.append(": LD_LIBRARY_PATH has a folder that is not absolute, so only its absolute folders are searched");
  return {};
}

}  // namespace

std::string folder_of(const std::string& file) { return file.substr(0, file.find_last_of('/')); }

std::string folder_of_this_code() { return folder_of(os::file_of_code(reinterpret_cast<const void*>(&is_absolute))); }

os::library load_first(std::span<const std::string> files, std::string& why) {
  for (const std::string& file : files) {
    os::library found;
    if (file.find('/') == file.npos) found = open_by_name(file, why);
    else if (is_absolute(file)) found = open(file, why);
    else why.append(why.empty() ? "" : "; ").append(file).append(": not an absolute path");
    if (found) return found;
  }
  return {};
}

std::vector<std::string> candidates_for(const std::string& name) {
  std::vector<std::string> files;
  if (const std::string here = folder_of_this_code(); !here.empty()) {
    files.push_back(here + "/" + name);
    files.push_back(here + "/" CAMEO_LIBRARIES_FROM_PROGRAMS "/" + name);
  }
  files.push_back(CAMEO_LIBRARIES_INSTALLED "/" + name);
  files.push_back(name);
  return files;
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
