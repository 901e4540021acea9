#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace CAMEO_NAMESPACE {

/// Produces the bytes of a file. It is called with a function that appends the next piece. An error of that function or
/// of the producer itself ends the writing.
using file_maker = detail::function_ref<status(detail::function_ref<status(std::span<const std::byte>)>)>;

/// Writes a file that is complete or absent, also after a crash: the pieces go, in order, to a temporary file in its
/// folder ("NAME.PID.N.tmp"), are flushed to disk, and then replace the old file, with its owner and permissions. A
/// process that maps the old file keeps the old bytes. FAIL with the system's message; the temporary file is then
/// removed. The next write of a file removes temporary files of killed processes. Thread-safe.
///
/// Links in the path are followed, also to a file that does not exist yet. A device, a pipe or an open file
/// ("/dev/stdout") is written in place: it receives the pieces one by one, and a write may wait for a reader. A folder
/// is an error (FAIL).
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
/// Writes the bytes that `produce` appends piece by piece; otherwise like the functions above.
CAMEO_API status write_file_atomically(const std::string& path, file_maker produce);
CAMEO_API status write_file_atomically(const std::string& path, std::string_view text);

/// Several files that belong together: all of them are written, or none. Each is written to disk under a temporary
/// name; commit() renames them. A path that is not a regular file (see above) receives its bytes when it is added,
/// which cannot be undone. Not thread-safe.
class file_batch {
 public:
  CAMEO_API file_batch();
  file_batch(const file_batch&) = delete;
  file_batch& operator=(const file_batch&) = delete;
  /// Removes all files that were not committed.
  CAMEO_API ~file_batch();

  /// Adds a file: writes its bytes to a temporary file. FAIL, with the path, if the file cannot be written or if the
  /// batch already has a file at that path; the file is then not added.
  CAMEO_API status add(const std::string& path, file_maker produce);
  /// Adds a file that must not replace another: commit() returns FAIL if a file exists at that path by then.
  CAMEO_API status add_new(const std::string& path, file_maker produce);
  /// Sets a function that commit() calls before it changes anything, while no other batch can be committed to the same
  /// folders. It checks again what may have changed since the files were written. An error of it ends commit().
  CAMEO_API void require(std::function<status()> check);
  /// Renames the files to their paths, in the order in which they were added. If the file system can lock folders, only
  /// one batch at a time is committed to a folder, so that files of two writers are not mixed. FAIL if a file cannot be
  /// renamed: the other paths are then restored if the file system has hard links; files that are new are removed.
  CAMEO_API status commit();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace CAMEO_NAMESPACE
