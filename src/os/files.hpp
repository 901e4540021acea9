#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>
#include <cameo/os/file_id.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace CAMEO_NAMESPACE {

/// The calls of the operating system; no other layer makes any. The headers of src/os declare what every system can
/// provide, and src/os/<system> defines it. An error is a status with the system's message, to which callers add the
/// path and the action: NO_SUCHFILE if nothing exists at a path, OUT_OF_MEMORY if the system has no memory for the
/// call, FAIL otherwise. A call that a signal interrupts is repeated, unless its comment says otherwise.
namespace os {

enum class file_kind : std::uint8_t { nothing, file, folder, link, disk, other };  // other: a pipe, a terminal

struct file_facts {
  file_kind kind = file_kind::nothing;
  detail::file_id id;
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0;  // when it was last written, in nanoseconds of the system's clock
  std::uint64_t names = 0;      // hard links; 0: the file has been removed
};

/// The purpose for which a file is opened.
enum class access : std::uint8_t {
  place,      // its facts and its path, and the contents of a folder
  reading,    // does not wait for the writer of a pipe
  changing,   // reading and writing
  writing,    // waits for the reader of a pipe
  appending,  // writing, always at the end
};

/// What happens to a symbolic link at the end of a path: it is followed, or the path means the link itself. Only
/// access::place can open a link; for other purposes, a link that is kept is an error.
enum class last_link : bool { kept, followed };

/// Opens the file, folder or device at a path relative to `folder`.
result<handle> open(const handle& folder, const std::string& path, access, last_link = last_link::followed);
/// Creates an empty file for writing. The handle is empty if the name is in use.
result<handle> create_new(const std::string& path);
/// Opens a file for reading and writing and creates it if it is missing. A link is an error. A file that this user may
/// only read is opened for reading.
result<handle> open_or_create(const handle& folder, const std::string& name);
/// A second handle to the same open file; the locks of the first remain until both are closed.
result<handle> duplicate(const handle&);
/// Closes the file. An error is one of an earlier write that the system reports only now.
status close(handle&&);

result<file_facts> facts_of(const handle&);
/// The kind is `nothing` if there is no such file.
result<file_facts> facts_at(const handle& folder, const std::string& path, last_link);
/// The present path of an open file; empty if the system cannot report it.
std::string real_path(const handle&);

/// Reads at most `to.size()` bytes. Returns their number; 0 at the end of the file.
result<std::size_t> read(const handle&, std::span<std::byte> to);
/// Reads as read() does, from a position.
result<std::size_t> read_at(const handle&, std::uint64_t position, std::span<std::byte> to);
/// Writes all bytes. A pipe without a reader is an error, and no signal is raised.
status write(const handle&, std::span<const std::byte>);
status write_at(const handle&, std::uint64_t position, std::span<const std::byte>);
/// Returns when the bytes are on the disk. FAIL for pipes and terminals, which have no disk.
status flush(const handle&);

/// A pipe, a device or a file that is read once from its beginning to its end. Opening waits for the writer of a pipe;
/// CANCELED when a signal comes first.
result<handle> open_stream(const std::string& path);
/// Standard input as a stream for read_stream().
result<handle> standard_input();
/// Reads a stream as read() does; CANCELED when a signal comes before any byte.
result<std::size_t> read_stream(const handle&, std::span<std::byte> to);

/// A file without a name in any folder, which disappears when it is closed. In this process, `path` leads to it, for
/// libraries that can only write to paths.
struct scratch_file {
  handle file;
  std::string path;
};
result<scratch_file> make_scratch_file();

}  // namespace os
}  // namespace CAMEO_NAMESPACE
