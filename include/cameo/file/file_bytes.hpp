#pragma once
#include <cameo/core/result.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cameo::inline CAMEO_ABI {

class descriptor;

/// The bytes of a file, mapped read-only and shared; they stay valid when the file is renamed or unlinked. Thread-safe.
class file_bytes {
 public:
  /// NO_SUCHFILE when there is none; INVALID_ARGUMENT when it is not a regular file; FAIL with the system's words, or
  /// when the file shrinks meanwhile.
  CAMEO_API static result<std::shared_ptr<const file_bytes>> map(const std::string& path);
  file_bytes(const file_bytes&) = delete;
  file_bytes& operator=(const file_bytes&) = delete;
  CAMEO_API ~file_bytes();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  /// Gives back the memory that holds them now; what is read again comes from the file again. For a time when most has
  /// been read for good, as weights that kernels have packed.
  CAMEO_API void forget_pages() const;
  /// The same for the pages that these bytes fill, if they are of this file.
  CAMEO_API void forget_pages(const void* data, std::size_t bytes) const;

 private:
  friend result<std::shared_ptr<const file_bytes>> map_opened(const descriptor&, std::string path);
  file_bytes(std::string path, std::span<const std::byte> bytes) : path_{std::move(path)}, bytes_{bytes} {}
  std::string path_;
  std::span<const std::byte> bytes_;
};

/// What a path that is written in a file may be, by what it names: one row per use.
struct path_rule {
  std::string_view what;  // "external data", for messages
  bool inner_dot_dot;     // `sub/../file` is fine as long as it stays inside
  bool plain_names;       // nothing that another system reads otherwise, or that looks like something else
  bool anywhere;          // absolute, out of the folder, by any link: the package says so, who installs it trusts it
  status_code refused;
};
/// Weights of a model, beside it.
inline constexpr path_rule external_data_path{"external data", true, false, false, status_code::invalid_graph};
/// Contexts of a compiled model, beside it.
inline constexpr path_rule context_path{"context", true, false, false, status_code::invalid_graph};
/// What lies in a model package.
inline constexpr path_rule package_path{"path", false, true, false, status_code::fail};
/// What a package says is elsewhere on this machine.
inline constexpr path_rule installed_path{"path", true, false, true, status_code::fail};

/// Joins a relative `location` written in a file to the folder `base`, if it stays inside: not absolute, no drive, no
/// name that a system reserves for devices, no `..` that leads out, no symlink that leads out, a regular file. A
/// symlink may lead into `also`, if that is not empty: where the model really lies that is itself a symlink. The rule's
/// status naming the location otherwise. `whose` says whose path it is ("initializer 'w'").
CAMEO_API result<std::string> confined_path(const path_rule&, const std::string& base, std::string_view location,
                                            std::string_view whose, const std::string& also = {});

}  // namespace cameo::inline CAMEO_ABI
