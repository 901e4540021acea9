#pragma once
#include <cameo/core/result.hpp>
#include <cameo/os/file_id.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

namespace os {
class handle;
}  // namespace os

namespace detail {
/// The bytes of a file, mapped read-only and shared; they stay valid when the file is renamed or unlinked. Thread-safe.
class file_bytes {
 public:
  /// Maps a file. NO_SUCHFILE if it does not exist; INVALID_ARGUMENT if it is not a regular file; FAIL if the system
  /// cannot map it (with the system's message), or if it shrinks meanwhile.
  CAMEO_API static result<std::shared_ptr<const file_bytes>> map(const std::string& path);
  file_bytes(const file_bytes&) = delete;
  file_bytes& operator=(const file_bytes&) = delete;
  CAMEO_API ~file_bytes();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  const file_id& id() const { return id_; }
  /// Releases the memory pages of the mapping; later reads load them from the file again. Use it when most bytes have
  /// been read for the last time, for example after kernels have packed the weights.
  CAMEO_API void forget_pages() const;
  /// Releases the whole pages within these bytes, if they are part of this file.
  CAMEO_API void forget_pages(const void* data, std::size_t bytes) const;

 private:
  friend result<std::shared_ptr<const file_bytes>> map_opened(const os::handle&, std::string path);
  file_bytes(std::string path, std::span<const std::byte> bytes, const file_id& id)
      : path_{std::move(path)}, bytes_{bytes}, id_{id} {}
  std::string path_;
  std::span<const std::byte> bytes_;
  file_id id_;
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
