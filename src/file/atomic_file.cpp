#include <cameo/file/atomic_file.hpp>

#include "destination.hpp"
#include "held_folder.hpp"
#include "messages.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace {

/// What temporary names beside a path begin with. A name has at most 255 bytes, and the rest of one has to fit.
std::string temporary_prefix(const std::string& path) {
  constexpr std::size_t longest = 255 - std::string_view{".4294967295.4294967295.tmp"}.size();
  const std::size_t folder = folder_part(path).size();
  return path.substr(0, std::min(path.size(), folder + longest)) + ".";
}

/// A unique name beside `path`: "out.html.1234.0.tmp", with the number of this process.
std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> number = 0;
  return fmt::format("{}{}.{}.tmp", temporary_prefix(path), ::getpid(), number++);
}

/// The process in a temporary name that begins like this; 0 if it is no such name.
pid_t process_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(".tmp")) return 0;
  name = name.substr(prefix.size(), std::max(name.size() - 4, prefix.size()) - prefix.size());
  pid_t process = 0;
  const char* const last = name.data() + name.size();
  const auto [dot, error] = std::from_chars(name.data(), last, process);
  if (error != std::errc{} || process <= 0 || dot == last || *dot != '.' || dot + 1 == last) return 0;
  return std::all_of(dot + 1, last, [](unsigned char c) { return std::isdigit(c); }) ? process : 0;
}

/// Removes the temporary files of writers of this file that were killed: their process is gone, and the lock that a
/// writer has on its file is free, whatever container the writer ran in.
void remove_leftovers(const std::string& path) {
  const std::string folder = folder_part(path), prefix = temporary_prefix(path).substr(folder.size());
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> all{::opendir(folder.empty() ? "." : folder.c_str()), close};
  if (!all) return;
  const int in = ::dirfd(all.get());
  while (const dirent* const each = ::readdir(all.get())) {
    const pid_t process = process_in(each->d_name, prefix);
    if (process == 0 || ::kill(process, 0) == 0 || errno != ESRCH) continue;
    const detail::descriptor file{::openat(in, each->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat facts{};
    if (!file || ::fstat(*file, &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (::flock(*file, LOCK_EX | LOCK_NB) == 0) ::unlinkat(in, each->d_name, 0);
  }
}

/// While it lives, writing into a pipe without a reader is an error (EPIPE) and no signal, which would end
/// the program that uses the library.
class no_pipe_signal {
 public:
  no_pipe_signal() {
    sigset_t waiting;
    was_waiting_ = ::sigpending(&waiting) == 0 && ::sigismember(&waiting, SIGPIPE) == 1;
    ::sigemptyset(&mine_);
    ::sigaddset(&mine_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &mine_, &before_);
  }
  no_pipe_signal(const no_pipe_signal&) = delete;
  no_pipe_signal& operator=(const no_pipe_signal&) = delete;
  ~no_pipe_signal() {
    const int error = errno;
    const timespec none{};
    if (!was_waiting_)
      while (::sigtimedwait(&mine_, nullptr, &none) < 0 && errno == EINTR) {}
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t mine_, before_;
  bool was_waiting_ = false;
};

bool write_all(int to, std::span<const std::byte> bytes) {
  const no_pipe_signal guard;
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (written > 0) bytes = bytes.subspan(std::size_t(written));
    if (written >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    pollfd ready{to, POLLOUT, 0};  // another process may have made a shared pipe non-blocking
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return false;
  }
  return true;
}

/// A file under way: under a temporary name beside its place, and gone unless it took that; or, where a path names no
/// regular file, what it names, which gets the bytes as they come.
class output_file {
 public:
  explicit output_file(destination to, bool replaces) : to_{std::move(to)}, replaces_{replaces} {
    if (to_.is_replaced()) make_temporary();
    else open_existing();
  }
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;
  ~output_file() {
    const int error = errno;
    if (opened_ >= 0) ::close(opened_);
    if (is_there_) ::unlink(name_.c_str());
    errno = error;
  }

  const std::string& path() const { return to_.path; }
  bool is_open() const { return opened_ >= 0; }
  bool is_replaced() const { return to_.is_replaced(); }
  bool replaces() const { return replaces_; }
  bool has_place_of(const output_file& other) const {
    if (!is_replaced() || !other.is_replaced()) return false;
    if (to_.path == other.to_.path) return true;
    return to_.facts && other.to_.facts && to_.facts->st_dev == other.to_.facts->st_dev &&
           to_.facts->st_ino == other.to_.facts->st_ino;
  }
  bool append(std::span<const std::byte> bytes) { return write_all(opened_, bytes); }

  /// To the disk, as readable as what was there before. The lock stays until the file has its name.
  bool finish() {
    if (is_replaced()) keep_rights();
    else if (!S_ISBLK(to_.facts->st_mode)) return true;  // pipes and terminals have no disk
    while (::fsync(opened_) != 0)
      if (errno != EINTR) return false;
    lock_ = detail::descriptor{::fcntl(opened_, F_DUPFD_CLOEXEC, 0)};
    // Linux has closed the file also when it says that it was interrupted.
    return ::close(std::exchange(opened_, -1)) == 0 || errno == EINTR;
  }

  bool take_place() {
    const bool is_done = replaces_ ? ::rename(name_.c_str(), to_.path.c_str()) == 0 : rename_to_free_name();
    if (!is_done) return false;
    is_there_ = false;
    lock_ = {};
    return true;
  }

 private:
  /// Fails with EEXIST if there is a file of that name. Not every file system can rename like that; most of those can
  /// link.
  bool rename_to_free_name() {
    if (::renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, to_.path.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL && errno != ENOSYS) return false;
    if (::link(name_.c_str(), to_.path.c_str()) == 0) return ::unlink(name_.c_str()) == 0;
    if (errno != EPERM && errno != EOPNOTSUPP) return false;
    struct stat facts{};
    if (::lstat(to_.path.c_str(), &facts) == 0) return errno = EEXIST, false;
    return ::rename(name_.c_str(), to_.path.c_str()) == 0;
  }

  void make_temporary() {
    remove_leftovers(to_.path);
    while (true) {
      name_ = name_beside(to_.path);
      opened_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
      if (opened_ < 0 && (errno == EEXIST || errno == EINTR)) continue;
      is_there_ = opened_ >= 0;
      if (!is_there_) return;
      // Another container's writer may have taken it for a leftover before the lock was there.
      struct stat facts{};
      while (::flock(opened_, LOCK_EX) != 0 && errno == EINTR) {}
      if (::fstat(opened_, &facts) != 0 || facts.st_nlink > 0) return;
      ::close(opened_);
    }
  }

  void open_existing() {
    if (to_.descriptor >= 0) {
      opened_ = ::fcntl(to_.descriptor, F_DUPFD_CLOEXEC, 0);
      return;
    }
    do opened_ = ::open(to_.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | (to_.appends ? O_APPEND : 0));
    while (opened_ < 0 && errno == EINTR);
    struct stat facts{};
    if (opened_ < 0 || to_.appends || ::fstat(opened_, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    ::close(std::exchange(opened_, -1));  // a file has taken the place meanwhile, and files are not written over
    errno = EEXIST;
  }

  /// Users who could read the old file can read the new one, and no others.
  void keep_rights() {
    if (!to_.facts) return;
    const bool is_ours = ::fchown(opened_, to_.facts->st_uid, to_.facts->st_gid) == 0;
    (void)::fchmod(opened_, to_.facts->st_mode & (is_ours ? mode_t{07777} : mode_t{0777}));
  }

  destination to_;
  bool replaces_;  // what is there
  std::string name_;
  int opened_ = -1;
  detail::descriptor lock_;  // the same file, once it is written
  bool is_there_ = false;
};

/// Makes the new name itself last; some file systems have nothing to do for it and say so.
void sync_folder_of(const std::string& path) {
  const std::string folder = folder_part(path);
  const detail::descriptor opened{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened) (void)::fsync(*opened);
}

result<std::unique_ptr<output_file>> write_output(const std::string& path, file_maker produce, bool replaces = true) {
  result<destination> to = find_destination(path);
  if (!to) return std::move(to).error();
  auto file = std::make_unique<output_file>(std::move(*to), replaces);
  if (!file->is_open())
    return system_error(path, file->is_replaced() ? "cannot make a file beside it" : "cannot open for writing");
  const auto append = [&](std::span<const std::byte> piece) {
    return file->append(piece) ? status{} : system_error(path, "cannot write");
  };
  if (status s = produce(append); !s) return s;
  if (!file->finish()) return system_error(path, "cannot write it to the disk");
  return file;
}

/// What lies under a path, kept under another name until it is known whether it is still needed.
class former_file {
 public:
  explicit former_file(const std::string& path) : path_{path} {
    std::string name = name_beside(path);
    if (::link(path.c_str(), name.c_str()) == 0) name_ = std::move(name);
    else was_there_ = errno != ENOENT;
  }
  former_file(former_file&& other) noexcept
      : path_{std::move(other.path_)}, name_{std::exchange(other.name_, {})}, was_there_{other.was_there_} {}
  former_file& operator=(former_file&&) = delete;
  ~former_file() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  void put_back() {
    if (!name_.empty() && ::rename(name_.c_str(), path_.c_str()) == 0) name_.clear();
    else if (!was_there_) ::unlink(path_.c_str());
  }

 private:
  std::string path_, name_;  // no name: there was nothing, or the file system has no links
  bool was_there_ = true;
};

/// The longest time that a batch waits for another one, whose files are written and only have to get their names. A
/// lock that is held for longer is for something else.
constexpr std::chrono::seconds longest_wait{10};

/// Locks a folder, as long as it stays open, if the system can (network file systems can't) and nothing else keeps it
/// locked. Locks nothing otherwise: then what two writers mix is found out when it is read.
void try_lock(const detail::held_folder& folder) {
  const auto end = std::chrono::steady_clock::now() + longest_wait;
  while (::flock(folder.handle(), LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

/// The folders of these files, locked, always in the same order, so that two batches do not wait for each other.
std::vector<detail::held_folder> locked_folders(const std::vector<std::unique_ptr<output_file>>& files) {
  std::vector<detail::held_folder> folders;
  for (const auto& file : files) {
    result<detail::held_folder> folder = detail::held_folder::open(folder_part(file->path()));
    if (folder && std::none_of(folders.begin(), folders.end(), [&](const auto& f) { return f.id() == folder->id(); }))
      folders.push_back(*std::move(folder));
  }
  std::sort(folders.begin(), folders.end(), [](const detail::held_folder& a, const detail::held_folder& b) {
    return std::pair{a.id().device, a.id().inode} < std::pair{b.id().device, b.id().inode};
  });
  for (const detail::held_folder& folder : folders) try_lock(folder);
  return folders;
}

}  // namespace

struct file_batch::impl {
  std::vector<std::unique_ptr<output_file>> files;
  std::vector<std::function<status()>> checks;

  status add(const std::string& path, file_maker produce, bool replaces) {
    result<std::unique_ptr<output_file>> file = write_output(path, produce, replaces);
    if (!file) return std::move(file).error();
    for (const auto& other : files)
      if ((*file)->has_place_of(*other))
        return failed(status_code::fail, "{}: is the same file as '{}', which is to be written, too", path,
                      other->path());
    if ((*file)->is_replaced()) files.push_back(std::move(*file));
    return {};
  }
};

file_batch::file_batch() : impl_{std::make_unique<impl>()} {}
file_batch::~file_batch() = default;

status file_batch::add(const std::string& path, file_maker produce) {
  return guarded([&] { return impl_->add(path, produce, true); });
}

status file_batch::add_new(const std::string& path, file_maker produce) {
  return guarded([&] { return impl_->add(path, produce, false); });
}

void file_batch::require(std::function<status()> check) { impl_->checks.push_back(std::move(check)); }

status file_batch::commit() {
  return guarded([&]() -> status {
    const bool can_mix = impl_->files.size() > 1 || !impl_->checks.empty();
    const auto locked = can_mix ? locked_folders(impl_->files) : std::vector<detail::held_folder>{};
    for (const std::function<status()>& check : impl_->checks)
      if (status s = check(); !s) return s;
    std::vector<former_file> before;
    before.reserve(impl_->files.size());
    for (const auto& file : impl_->files) {
      before.emplace_back(file->path());
      if (file->take_place()) continue;
      status failed = !file->replaces() && errno == EEXIST
                          ? status{status_code::fail, file->path() + ": was made by another program meanwhile"}
                          : system_error(file->path(), "cannot put the new file in its place");
      before.pop_back();
      for (auto each = before.rbegin(); each != before.rend(); ++each) each->put_back();
      return failed;
    }
    for (const auto& file : impl_->files) sync_folder_of(file->path());
    impl_->files.clear(), impl_->checks.clear();
    return {};
  });
}

bool remove_output(const std::string& path) {
  const result<destination> at = find_destination(path);
  return at && at->facts && at->is_replaced() && ::unlink(at->path.c_str()) == 0;
}

status write_file_atomically(const std::string& path, file_maker produce) {
  return guarded([&]() -> status {
    result<std::unique_ptr<output_file>> file = write_output(path, produce);
    if (!file) return std::move(file).error();
    if (!(*file)->is_replaced()) return {};
    if (!(*file)->take_place()) return system_error(path, "cannot put the new file in its place");
    sync_folder_of((*file)->path());
    return {};
  });
}

status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  const auto all = [&](detail::function_ref<status(std::span<const std::byte>)> append) -> status {
    for (std::span<const std::byte> piece : pieces)
      if (status s = append(piece); !s) return s;
    return {};
  };
  return write_file_atomically(path, all);
}

status write_file_atomically(const std::string& path, std::span<const std::byte> bytes) {
  return write_file_atomically(path, std::span{&bytes, 1});
}

status write_file_atomically(const std::string& path, std::string_view text) {
  return write_file_atomically(path, std::as_bytes(std::span{text.data(), text.size()}));
}

CAMEO_END_NAMESPACE
