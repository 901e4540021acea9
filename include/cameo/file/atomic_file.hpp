#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

CAMEO_BEGIN_NAMESPACE

/// Produces the bytes of a file: it is called with a function that takes the next piece. An error of that function, or
/// of the producer itself, ends the writing.
using file_maker = detail::function_ref<status(detail::function_ref<status(std::span<const std::byte>)>)>;

/// Writes a file that is complete or absent, also after a crash: the pieces go, in order, to a temporary file in the
/// same folder ("NAME.PID.N.tmp"), are flushed to disk, and then replace the old file, with its owner and permissions.
/// A process that maps the old file keeps the old bytes. FAIL with the system's message; the temporary file is then
/// removed. Temporary files of killed processes are removed by the next write of the same file. Thread-safe.
///
/// Links in the path are followed, also to a file that does not exist yet. A device, a pipe or an open file
/// ("/dev/stdout") is written into: it gets the pieces one by one, which may wait for a reader. A folder is refused
/// (FAIL).
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
/// The same for bytes that are produced piece by piece.
CAMEO_API status write_file_atomically(const std::string& path, file_maker produce);
CAMEO_API status write_file_atomically(const std::string& path, std::string_view text);

/// Several files that belong together: all of them are written, or none. Each is written to disk under a temporary
/// name; commit() gives them their names. A path that is no regular file (see above) gets its bytes when it is added,
/// and that can't be undone. Not thread-safe.
class file_batch {
 public:
  CAMEO_API file_batch();
  file_batch(const file_batch&) = delete;
  file_batch& operator=(const file_batch&) = delete;
  /// Removes all files that were not committed.
  CAMEO_API ~file_batch();

  /// FAIL with the path and the system's message, or when the batch already has a file at that place; the file is then
  /// not added to the batch.
  CAMEO_API status add(const std::string& path, file_maker produce);
  /// Adds a file that may replace no other: commit() is FAIL if there is one at that path by then.
  CAMEO_API status add_new(const std::string& path, file_maker produce);
  /// commit() calls `check` before it changes anything, while no other batch is committed to the same folders: what was
  /// found before the files were written may have changed. Its error ends commit().
  CAMEO_API void require(std::function<status()> check);
  /// Gives the files their names, in the order in which they were added; one batch of a folder after the other, so that
  /// files of two writers are not mixed, where the file system can lock folders. FAIL when a file can't get its name:
  /// the other paths are then as they were before, if the file system has hard links; files that are new are removed.
  CAMEO_API status commit();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

CAMEO_END_NAMESPACE
