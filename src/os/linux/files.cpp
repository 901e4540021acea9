#include "os/files.hpp"

#include "native.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>

#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {
namespace {

file_kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return file_kind::file;
  if (S_ISDIR(mode)) return file_kind::folder;
  if (S_ISLNK(mode)) return file_kind::link;
  return S_ISBLK(mode) ? file_kind::disk : file_kind::other;
}

file_facts facts_in(const struct stat& from) {
  file_facts made;
  made.kind = kind_of(from.st_mode);
  made.id = {from.st_dev, from.st_ino};
  made.bytes = std::uint64_t(from.st_size);
  made.written_ns = std::int64_t(from.st_mtim.tv_sec) * 1'000'000'000 + from.st_mtim.tv_nsec;
  made.names = from.st_nlink;
  return made;
}

int flags_for(access use) {
  switch (use) {
    case access::place: return O_PATH;
    case access::reading: return O_RDONLY | O_NONBLOCK | O_NOCTTY;  // O_NONBLOCK has no effect on regular files
    case access::changing: return O_RDWR | O_NONBLOCK | O_NOCTTY;
    case access::writing: return O_WRONLY | O_NOCTTY;
    case access::appending: return O_WRONLY | O_APPEND | O_NOCTTY;
  }
  return O_PATH;
}

/// While this object lives, writing into a pipe without a reader is an error (EPIPE) without a signal, which would end
/// the program that uses the library.
class no_pipe_signal {
 public:
  no_pipe_signal() {
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&own_);
    ::sigaddset(&own_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &own_, &saved_);
  }
  no_pipe_signal(const no_pipe_signal&) = delete;
  no_pipe_signal& operator=(const no_pipe_signal&) = delete;
  ~no_pipe_signal() {
    const int error = errno;
    const timespec none{};
    if (!was_pending_)
      while (::sigtimedwait(&own_, nullptr, &none) < 0 && errno == EINTR) {}
    ::pthread_sigmask(SIG_SETMASK, &saved_, nullptr);
    errno = error;
  }

 private:
  sigset_t own_, saved_;
  bool was_pending_ = false;
};

result<std::size_t> bytes_or_error(ssize_t got) {
  if (got < 0) return last_error();
  return std::size_t(got);
}

}  // namespace

status error_of(int number) {
  status_code code = status_code::fail;
  if (number == ENOENT || number == ENOTDIR) code = status_code::no_suchfile;
  else if (number == ENOMEM) code = status_code::out_of_memory;
  return {code, std::strerror(number)};
}

handle::~handle() {
  if (*this) ::close(native::number(*this));
}

result<handle> open(const handle& folder, const std::string& path, access use, last_link link) {
  const int flags = flags_for(use) | O_CLOEXEC | (link == last_link::kept ? O_NOFOLLOW : 0);
  return opened(uninterrupted([&] { return ::openat(native::folder(folder), path.c_str(), flags); }));
}

result<handle> create_new(const std::string& path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  const int made = uninterrupted([&] { return ::open(path.c_str(), flags, 0666); });
  if (made < 0 && errno == EEXIST) return handle{};
  return opened(made);
}

result<handle> open_or_create(const handle& folder, const std::string& name) {
  const int flags = flags_for(access::changing) | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  const int made = uninterrupted([&] { return ::openat(native::folder(folder), name.c_str(), flags, 0666); });
  if (made >= 0 || errno != EACCES) return opened(made);
  result<handle> readable = open(folder, name, access::reading, last_link::kept);
  return readable ? std::move(readable) : error_of(EACCES);
}

result<handle> duplicate(const handle& of) { return opened(::fcntl(native::number(of), F_DUPFD_CLOEXEC, 0)); }

status close(handle&& closed) {
  const int descriptor = native::release(std::move(closed));
  // Linux has closed the file even if it reports an interruption.
  return ::close(descriptor) == 0 || errno == EINTR ? status{} : last_error();
}

result<file_facts> facts_of(const handle& of) {
  struct stat facts{};
  if (::fstat(native::number(of), &facts) != 0) return last_error();
  return facts_in(facts);
}

result<file_facts> facts_at(const handle& folder, const std::string& path, last_link link) {
  struct stat facts{};
  const int flags = link == last_link::kept ? AT_SYMLINK_NOFOLLOW : 0;
  if (::fstatat(native::folder(folder), path.c_str(), &facts, flags) == 0) return facts_in(facts);
  if (errno == ENOENT) return file_facts{};
  return last_error();
}

std::string real_path(const handle& of) {
  char path[PATH_MAX + 1];
  const std::string link = "/proc/self/fd/" + std::to_string(native::number(of));
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  return length > 0 && path[0] == '/' ? std::string{path, std::size_t(length)} : std::string{};
}

result<std::size_t> read(const handle& from, std::span<std::byte> to) {
  return bytes_or_error(uninterrupted([&] { return ::read(native::number(from), to.data(), to.size()); }));
}

result<std::size_t> read_at(const handle& from, std::uint64_t position, std::span<std::byte> to) {
  return bytes_or_error(
      uninterrupted([&] { return ::pread(native::number(from), to.data(), to.size(), off_t(position)); }));
}

status write(const handle& to, std::span<const std::byte> bytes) {
  const no_pipe_signal guard;
  const int descriptor = native::number(to);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (written > 0) bytes = bytes.subspan(std::size_t(written));
    if (written >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return last_error();
    pollfd ready{descriptor, POLLOUT, 0};  // another process may have made a shared pipe non-blocking
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return last_error();
  }
  return {};
}

status write_at(const handle& to, std::uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::pwrite(native::number(to), bytes.data(), bytes.size(), off_t(position)); });
    if (written < 0) return last_error();
    bytes = bytes.subspan(std::size_t(written)), position += std::uint64_t(written);
  }
  return {};
}

status flush(const handle& of) {
  return uninterrupted([&] { return ::fsync(native::number(of)); }) == 0 ? status{} : last_error();
}

result<handle> open_stream(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == EINTR) return status{status_code::canceled, std::strerror(EINTR)};
  return opened(descriptor);
}

result<handle> standard_input() { return opened(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)); }

result<std::size_t> read_stream(const handle& from, std::span<std::byte> to) {
  const ssize_t got = ::read(native::number(from), to.data(), to.size());
  if (got < 0 && errno == EINTR) return status{status_code::canceled, std::strerror(EINTR)};
  return bytes_or_error(got);
}

result<scratch_file> make_scratch_file() {
  result<handle> made = opened(::memfd_create("cameo", MFD_CLOEXEC));
  if (!made) return std::move(made).error();
  std::string path = "/proc/self/fd/" + std::to_string(native::number(*made));
  return scratch_file{*std::move(made), std::move(path)};
}

}  // namespace CAMEO_NAMESPACE::os
