#pragma once
#include <cameo/core/result.hpp>

#include <string>

namespace CAMEO_NAMESPACE::os {

/// A shared library in this process. It remains loaded until unload() is called, also when no object refers to it.
class library {
 public:
  library() = default;
  /// Loads the library at an absolute path, or the one that the system finds for a name alone, with its dependencies.
  /// Other libraries cannot use its symbols. FAIL with the system's message.
  static result<library> load(const std::string& file);
  /// True if a library with this name has been loaded.
  static bool is_loaded(const std::string& name);

  explicit operator bool() const { return native_ != nullptr; }
  /// The function with this name; null if there is none.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(address_of(name));
  }
  void unload();

 private:
  void* address_of(const char* name) const;
  void* native_ = nullptr;
};

/// The file that this code was loaded from, a program or a library: an absolute path without links. Empty if the system
/// cannot report it.
std::string file_of_code(const void* function);

}  // namespace CAMEO_NAMESPACE::os
