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
/// name in the same folder ("NAME.PID.N.tmp"), reach the disk, and then take the place of what was there, with its
/// owner and rights. Who still maps the old file keeps the old bytes. FAIL with the system's words; the temporary file
/// is then gone. What killed processes left of theirs goes with the next one that writes the same file. Thread-safe.
///
/// What the path names is respected. Links are followed, also to a file that is to be made. A device, a pipe or an open
/// file ("/dev/stdout") is written into: it gets the pieces as they come, which may wait for a reader. A folder is
/// refused (FAIL).
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
/// The same for bytes that come bit by bit.
CAMEO_API status write_file_atomically(const std::string& path, file_maker produce);
CAMEO_API status write_file_atomically(const std::string& path, std::string_view text);

/// Takes back what was written to a path: the regular file goes. Links to it stay, and so does anything else that the
/// path may name. False when nothing was removed.
CAMEO_API bool remove_output(const std::string& path);

/// Several files that belong together: all of them or none. Each is written to the disk under a temporary name;
/// commit() gives them their names. What is no regular file (see above) gets its bytes when it is added, and can't give
/// them back. Not thread-safe.
class file_batch {
 public:
  CAMEO_API file_batch();
  file_batch(const file_batch&) = delete;
  file_batch& operator=(const file_batch&) = delete;
  /// What was not committed leaves no trace.
  CAMEO_API ~file_batch();

  /// FAIL with the path and the system's words, or when a file of the batch has that place already; the file is then
  /// not of the batch.
  CAMEO_API status add(const std::string& path, file_maker produce);
  /// In the order in which they were added. FAIL when a file can't get its name: the others then are again what they
  /// were before, if the file system has hard links, or gone if they were not there.
  CAMEO_API status commit();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace cameo::inline CAMEO_ABI
