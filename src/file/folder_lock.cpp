#include "folder_lock.hpp"

#include "messages.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace {

using clock = std::chrono::steady_clock;

constexpr const char* name = folder_lock_file.data();

status system_error(const detail::held_folder& folder) {
  const int error = errno;
  return failed(code_of_system(error), "{}/{}: cannot be made: {}", folder.path(), name, std::strerror(error));
}

/// "process 4711 (cameo) on host, since 2026-01-31 12:00:00 UTC"
std::string own_words() {
  char host[256] = {}, program[64] = {}, since[32] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  const detail::descriptor comm{::open("/proc/self/comm", O_RDONLY | O_CLOEXEC)};
  const ssize_t length = comm ? ::read(*comm, program, sizeof program - 1) : 0;
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (::gmtime_r(&now, &parts)) std::strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &parts);
  std::string_view called{program, std::size_t(std::max(length, ssize_t{0}))};
  called = called.substr(0, called.find('\n'));
  return fmt::format("process {} ({}) on {}, since {}", ::getpid(), called, host, since);
}

/// The text in the file about the process that holds the lock; cleaned, as a file may have any content.
std::string words_of_holder(const detail::descriptor& file) {
  char text[256];
  const ssize_t length = ::pread(*file, text, sizeof text, 0);
  std::string made{text, std::size_t(std::max(length, ssize_t{0}))};
  std::replace_if(made.begin(), made.end(), [](char c) { return c < 0x20 || c > 0x7E; }, '?');
  return made.empty() ? "another process" : made;
}

/// Opens the lock file; its name may be a trap by the folder's creator. Another user's file can only be read, which
/// is enough to wait for it.
result<detail::descriptor> open_lock_file(const detail::held_folder& folder) {
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  detail::descriptor file{::openat(folder.handle(), name, O_RDWR | O_CREAT | flags, 0666)};
  if (const int error = errno; !file && error == EACCES) {
    file = detail::descriptor{::openat(folder.handle(), name, O_RDONLY | flags)};
    errno = error;
  }
  struct stat facts{};
  if (!file || ::fstat(*file, &facts) != 0) return system_error(folder);
  if (!S_ISREG(facts.st_mode) || facts.st_nlink > 1)
    return failed(status_code::fail, "{}/{}: is not a lock that cameo has made", folder.path(), name);
  return file;
}

/// Whether the file still has its name: the last holder may have removed it meanwhile.
bool has_its_name(int folder, const detail::descriptor& file) {
  struct stat own{}, named{};
  return ::fstat(*file, &own) == 0 && ::fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         own.st_dev == named.st_dev && own.st_ino == named.st_ino;
}

}  // namespace

result<folder_lock> folder_lock::take(const detail::held_folder& folder, detail::duration wait) {
  const clock::time_point end = clock::now() + std::chrono::nanoseconds{wait.nanoseconds()};
  std::chrono::milliseconds pause{1};
  while (true) {
    result<detail::descriptor> file = open_lock_file(folder);
    if (!file) return std::move(file).error();
    if (::flock(**file, LOCK_EX | LOCK_NB) == 0) {
      if (!has_its_name(folder.handle(), *file)) continue;
      // A file that a dead holder has left is of no use, even if others may write to it.
      struct stat facts{};
      if (::fstat(**file, &facts) == 0 && facts.st_size > 0) {
        if (::unlinkat(folder.handle(), name, 0) != 0) return system_error(folder);
        continue;
      }
      const std::string words = own_words();
      if (::pwrite(**file, words.data(), words.size(), 0) < 0) return system_error(folder);
      detail::descriptor own{::openat(folder.handle(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
      if (!own) return system_error(folder);
      return folder_lock{std::move(own), *std::move(file)};
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error(folder);
    const clock::time_point now = clock::now();
    if (now >= end)
      return failed(status_code::fail, "{}: is being changed by {}; waited {} ms for it", folder.path(),
                    words_of_holder(*file), wait.nanoseconds() / 1'000'000);
    std::this_thread::sleep_for(std::min<clock::duration>(pause, end - now));
    pause = std::min(pause * 2, std::chrono::milliseconds{50});
  }
}

folder_lock::~folder_lock() {
  // The name is removed first: a process that opens the file later sees that it has no name, and makes another.
  if (file_ && has_its_name(*folder_, file_)) ::unlinkat(*folder_, name, 0);
}

CAMEO_END_NAMESPACE
