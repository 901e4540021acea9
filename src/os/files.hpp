#pragma once
#include "os/handle.hpp"

#include <cameo/core/result.hpp>
#include <cameo/os/file_id.hpp>

#include <cstddef>
#include <span>
#include <string>

CAMEO_BEGIN_NAMESPACE

/// The calls of the operating system. No other layer makes one: headers of src/os promise what every system can keep,
/// and src/os/<system> has the definitions. An error is a status with the system's words, to which callers add the path
/// and what they did: NO_SUCHFILE where a path leads to nothing, OUT_OF_MEMORY where the system has no memory for the
/// call, FAIL otherwise. A call that a signal interrupts is made again, unless its comment says otherwise.
namespace os {

enum class file_kind : std::uint8_t { nothing, file, folder, link, disk, other };  // other: a pipe, a terminal

struct file_facts {
  file_kind kind = file_kind::nothing;
  detail::file_id id;
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0;  // when it was last written, in nanoseconds of the system's clock
  std::uint64_t names = 0;      // hard links; 0: the file has been removed
};

/// What an opened file is for.
enum class access : std::uint8_t {
  place,      // its facts, its path, and what is in it if it is a folder
  reading,    // does not wait for the writer of a pipe
  changing,   // reading and writing
  writing,    // waits for the reader of a pipe
  appending,  // writing, always at the end
};

/// What happens to a symbolic link that a path ends in: it is followed, or it is what the path means. Only
/// access::place can open a link; otherwise a link that is kept is an error.
enum class last_link : bool { kept, followed };

/// Opens what is at a path, which counts from `folder`.
result<handle> open(const handle& folder, const std::string& path, access, last_link = last_link::followed);
/// A new empty file for writing. The handle is empty if there is something with that name.
result<handle> create_new(const std::string& path);
/// The file for reading and writing, which is made if it is not there. A link is an error. A file that this user may
/// only read is opened for reading.
result<handle> open_or_create(const handle& folder, const std::string& name);
/// A second handle to the same open file; the locks of the first remain until both are closed.
result<handle> duplicate(const handle&);
/// Closes it. The error is one of earlier writes that the system reports only now.
status close(handle&&);

result<file_facts> facts_of(const handle&);
/// The kind is `nothing` if there is no such file.
result<file_facts> facts_at(const handle& folder, const std::string& path, last_link);
/// The present path of an open file; empty if the system does not know it.
std::string real_path(const handle&);

/// Reads at most as many bytes as there is space for; 0 at the end of the file.
result<std::size_t> read(const handle&, std::span<std::byte> to);
/// The same from a position.
result<std::size_t> read_at(const handle&, std::uint64_t position, std::span<std::byte> to);
/// Writes all bytes. A pipe without a reader is an error, and no signal is raised.
status write(const handle&, std::span<const std::byte>);
status write_at(const handle&, std::uint64_t position, std::span<const std::byte>);
/// Returns when the bytes are on the disk. Pipes and terminals have none: FAIL.
status flush(const handle&);

/// A pipe, a device or a file that is read once from its beginning to its end. Opening waits for the writer of a pipe;
/// CANCELED when a signal comes first.
result<handle> open_stream(const std::string& path);
/// Standard input as such a stream.
result<handle> standard_input();
/// Reads a stream as read() does; CANCELED when a signal comes before any byte.
result<std::size_t> read_stream(const handle&, std::span<std::byte> to);

/// A file that has no name in any folder and that is gone when it is closed. In this process its path leads to it, for
/// libraries that write to paths alone.
struct scratch_file {
  handle file;
  std::string path;
};
result<scratch_file> make_scratch_file();

}  // namespace os
CAMEO_END_NAMESPACE
