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

}  // namespace cameo::inline CAMEO_ABI
