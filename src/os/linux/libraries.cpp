#include "os/libraries.hpp"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <utility>

#include <dlfcn.h>

namespace CAMEO_NAMESPACE::os {

result<library> library::load(const std::string& file) {
  library made;
  made.native_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (made) return made;
  const char* const words = ::dlerror();
  return status{status_code::fail, words ? words : file};
}

bool library::is_loaded(const std::string& name) {
  void* const found = ::dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (found) ::dlclose(found);
  return found != nullptr;
}

void library::unload() {
  if (native_) ::dlclose(std::exchange(native_, nullptr));
}

void* library::address_of(const char* name) const { return ::dlsym(native_, name); }

// For a program, dladdr() returns the name by which it was started, which may not be a path.
std::string file_of_code(const void* function) {
  const auto here = reinterpret_cast<std::uintptr_t>(function);
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields{line};  // "first-last rights offset device inode   /path"
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    if (!(fields >> std::hex >> first >> dash >> last) || here < first || here >= last) continue;
    const std::size_t path = line.find('/');
    return path == line.npos ? std::string{} : line.substr(path);
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::os
