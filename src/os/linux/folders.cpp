#include "os/folders.hpp"

#include "native.hpp"

#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {
namespace {

/// The path up to and including the last slash; "." if there is none.
std::string folder_of(const std::string& path) {
  const std::size_t end = path.rfind('/') + 1;
  return end == 0 ? "." : path.substr(0, end);
}

file_kind kind_of_entry(unsigned char type) {
  switch (type) {
    case DT_REG: return file_kind::file;
    case DT_DIR: return file_kind::folder;
    case DT_LNK: return file_kind::link;
    default: return file_kind::other;
  }
}

struct folder_closer {
  void operator()(DIR* listed) const { ::closedir(listed); }
};

}  // namespace

status name_is_taken() { return error_of(EEXIST); }
status too_many_links() { return error_of(ELOOP); }

result<handle> open_folder(const handle& from, const std::string& path, access use) {
  const int flags = (use == access::place ? O_PATH : O_RDONLY) | O_DIRECTORY | O_CLOEXEC;
  return opened(uninterrupted([&] { return ::openat(native::folder(from), path.c_str(), flags); }));
}

result<handle> open_beneath(const handle& folder, const std::string& path, access use) {
  struct open_how how{};
  how.flags = std::uint64_t(O_CLOEXEC | (use == access::place ? O_PATH : O_RDONLY | O_NONBLOCK | O_NOCTTY));
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return opened(int(::syscall(SYS_openat2, native::folder(folder), path.c_str(), &how, sizeof how)));
}

status list(const handle& folder, detail::function_ref<void(std::string_view, file_kind)> found) {
  result<handle> own = open_folder(folder, ".");
  if (!own) return std::move(own).error();
  const std::unique_ptr<DIR, folder_closer> listed{::fdopendir(native::number(*own))};
  if (!listed) return last_error();
  native::release(*std::move(own));  // closedir() closes it
  while (const dirent* const entry = ::readdir(listed.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") found(name, kind_of_entry(entry->d_type));
  }
  return {};
}

result<bool> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  return last_error();
}

status move_folder(const std::string& from, const std::string& to) { return replace_file(from, to); }

void flush_folder(const std::string& path) {
  const result<handle> opened = open_folder({}, path.empty() ? "." : path);
  if (opened) (void)::fsync(native::number(*opened));  // some file systems do not support it and fail
}

result<std::string> read_link(const handle& folder, const std::string& name) {
  char target[PATH_MAX + 1];
  const ssize_t length = ::readlinkat(native::folder(folder), name.c_str(), target, sizeof target);
  if (length < 0) return last_error();
  return std::string{target, std::size_t(length)};
}

// This is the kernel's rule for protected symlinks (fs.protected_symlinks).
bool is_planted_link(const std::string& path) {
  struct stat link{}, around{};
  if (::lstat(path.c_str(), &link) != 0 || ::stat(folder_of(path).c_str(), &around) != 0) return false;
  constexpr mode_t every_user = S_ISVTX | S_IWOTH;
  return S_ISLNK(link.st_mode) && (around.st_mode & every_user) == every_user && link.st_uid != ::geteuid() &&
         link.st_uid != around.st_uid;
}

// The links in /proc/PID/fd lead to open files, although their text is not always a path.
bool leads_to_open_file(const std::string& path) {
  char real[PATH_MAX];
  const std::string_view name = ::realpath(folder_of(path).c_str(), real) ? real : "";
  return name.starts_with("/proc/") && name.ends_with("/fd");
}

handle own_open_file(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;
  const char* const last = path.data() + path.size();
  int number = -1;
  const auto [end, error] = std::from_chars(path.data() + name, last, number);
  struct stat there{}, own{};
  if (error != std::errc{} || end != last || number < 0) return {};
  if (::stat(path.c_str(), &there) != 0 || ::fstat(number, &own) != 0) return {};
  if (own.st_dev != there.st_dev || own.st_ino != there.st_ino) return {};
  return native::own(::fcntl(number, F_DUPFD_CLOEXEC, 0));
}

status replace_file(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? status{} : last_error();
}

// Some file systems lack RENAME_NOREPLACE. Most of them support hard links, which do not replace a file either. On the
// others a file that another process creates between the check and the renaming is replaced.
result<bool> move_to_free_name(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) return last_error();
  if (::link(from.c_str(), to.c_str()) == 0) {
    if (::unlink(from.c_str()) != 0) return last_error();
    return true;
  }
  if (errno == EEXIST) return false;
  if (errno != EPERM && errno != EOPNOTSUPP) return last_error();
  struct stat facts{};
  if (::lstat(to.c_str(), &facts) == 0) return false;
  if (status s = replace_file(from, to); !s) return s;
  return true;
}

status add_name(const std::string& path, const std::string& another) {
  return ::link(path.c_str(), another.c_str()) == 0 ? status{} : last_error();
}

status remove_name(const handle& folder, const std::string& name) {
  return ::unlinkat(native::folder(folder), name.c_str(), 0) == 0 ? status{} : last_error();
}

void keep_rights(const std::string& path, const handle& of_new) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return;
  const int descriptor = native::number(of_new);
  const bool is_owned = ::fchown(descriptor, facts.st_uid, facts.st_gid) == 0;
  (void)::fchmod(descriptor, facts.st_mode & (is_owned ? mode_t{07777} : mode_t{0777}));
}

}  // namespace CAMEO_NAMESPACE::os
