#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace cameo::inline CAMEO_ABI {

/// What makes the bytes of a file: called with a function that takes the next ones. What that returns, or the maker
/// itself, ends it.
using file_maker = function_ref<status(function_ref<status(std::span<const std::byte>)>)>;

/// Writes a file that is complete or absent, also after a crash: the pieces, one after the other, go to a temporary
/// name in the same folder, reach the disk, and then take the place of what was there. Who still maps the old file
/// keeps the old bytes. FAIL with the system's words; the temporary file is then gone. Thread-safe.
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
/// The same for bytes that come bit by bit.
CAMEO_API status write_file_atomically(const std::string& path, file_maker produce);
CAMEO_API status write_file_atomically(const std::string& path, std::string_view text);

/// Several files that belong together: all of them or none. Each is written to the disk under a temporary name;
/// commit() gives them their names. Not thread-safe.
class file_batch {
 public:
  CAMEO_API file_batch();
  file_batch(const file_batch&) = delete;
  file_batch& operator=(const file_batch&) = delete;
  /// What was not committed leaves no trace.
  CAMEO_API ~file_batch();

  /// FAIL with the path and the system's words; the file is then not of the batch.
  CAMEO_API status add(const std::string& path, file_maker produce);
  /// In the order in which they were added. FAIL when a file can't get its name: the others then are again what they
  /// were before, if the file system has hard links, or gone if they were not there.
  CAMEO_API status commit();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace cameo::inline CAMEO_ABI
