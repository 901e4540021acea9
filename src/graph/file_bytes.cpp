#include <cameo/graph/file_bytes.hpp>

#include "messages.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cameo::inline CAMEO_ABI {
namespace {

namespace fs = std::filesystem;

/// A descriptor, closed on the way out: a mapping outlives it.
struct open_file {
  int descriptor;
  explicit open_file(int opened) : descriptor{opened} {}
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
  ~open_file() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

status system_error(const std::string& path, std::string_view doing) {
  const int error = errno;
  const status_code code = error == ENOENT || error == ENOTDIR ? status_code::no_suchfile
                           : error == ENOMEM                   ? status_code::out_of_memory
                                                               : status_code::fail;
  return failed(code, "{}: {}: {}", path, doing, std::strerror(error));
}

/// CON, nul.txt, COM1: devices on some systems, whatever folder they are named in.
bool names_device(std::string_view location) {
  static constexpr std::string_view devices[] = {"CON",  "PRN",  "AUX",  "NUL",  "COM1", "COM2", "COM3",   "COM4",
                                                 "COM5", "COM6", "COM7", "COM8", "COM9", "LPT1", "LPT2",   "LPT3",
                                                 "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9", "CONIN$", "CONOUT$"};
  while (!location.empty()) {
    const std::size_t end = std::min(location.find_first_of("/\\"), location.size());
    std::string_view part = location.substr(0, end);
    part = part.substr(0, part.find_first_of(".:"));
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    for (std::string_view device : devices)
      if (part.size() == device.size() && std::equal(part.begin(), part.end(), device.begin(), [](char a, char b) {
            return (a >= 'a' && a <= 'z' ? char(a - ('a' - 'A')) : a) == b;
          }))
        return true;
    location.remove_prefix(std::min(end + 1, location.size()));
  }
  return false;
}

bool has_dot_dot(std::string_view location) {
  while (!location.empty()) {
    const std::size_t end = std::min(location.find_first_of("/\\"), location.size());
    if (location.substr(0, end) == "..") return true;
    location.remove_prefix(std::min(end + 1, location.size()));
  }
  return false;
}

/// Whether the words of a path lead out of where it starts, or can mean something else on another system. A file
/// written on one system is read on another: both separators count.
bool leads_out(std::string_view location) {
  int depth = 0;
  while (!location.empty()) {
    const std::size_t end = std::min(location.find_first_of("/\\"), location.size());
    const std::string_view part = location.substr(0, end);
    if (part == "..") {
      if (--depth < 0) return true;
    } else if (!part.empty() && part != ".") {
      ++depth;
    }
    location.remove_prefix(std::min(end + 1, location.size()));
  }
  return false;
}

bool is_inside(const fs::path& folder, const fs::path& file) {
  auto at = file.begin();
  for (const fs::path& part : folder) {
    if (part.empty()) continue;  // of a trailing separator
    if (at == file.end() || *at != part) return false;
    ++at;
  }
  return at != file.end();
}

}  // namespace

void file_bytes::forget_pages() const {
  // A hint: where it fails, memory is kept.
  if (!bytes_.empty()) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

void file_bytes::forget_pages(const void* data, std::size_t count) const {
  const auto* const first = static_cast<const std::byte*>(data);
  if (first < bytes_.data() || count > bytes_.size() || std::size_t(first - bytes_.data()) > bytes_.size() - count)
    return;
  const std::size_t page = std::size_t(::sysconf(_SC_PAGESIZE));
  const std::size_t from = (std::size_t(first - bytes_.data()) + page - 1) / page * page;
  const std::size_t to = std::size_t(first - bytes_.data() + std::ptrdiff_t(count)) / page * page;
  if (from < to) ::madvise(const_cast<std::byte*>(bytes_.data()) + from, to - from, MADV_DONTNEED);
}

result<std::shared_ptr<const file_bytes>> file_bytes::map(const std::string& path) try {
  // Opening a pipe must not wait for its writer; for a regular file O_NONBLOCK means nothing.
  int descriptor = -1;
  do descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (descriptor < 0 && errno == EINTR);
  const open_file file{descriptor};
  if (file.descriptor < 0) return system_error(path, "cannot open");
  struct stat facts {};
  if (::fstat(file.descriptor, &facts) != 0) return system_error(path, "cannot stat");
  if (!S_ISREG(facts.st_mode)) return failed(status_code::invalid_argument, "{}: not a regular file", path);
  const auto size = std::size_t(facts.st_size);
  if (size == 0) return std::shared_ptr<const file_bytes>{new file_bytes{path, {}}};
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (memory == MAP_FAILED) return system_error(path, "cannot map");
  const std::span<const std::byte> bytes{static_cast<const std::byte*>(memory), size};
  // Reading past the end of a file that has shrunk since would end the process.
  struct stat now {};
  const bool is_known = ::fstat(file.descriptor, &now) == 0;
  if (!is_known || std::size_t(now.st_size) < size) {
    status bad = is_known ? failed(status_code::fail, "{}: became shorter while it was opened", path)
                          : system_error(path, "cannot stat");
    ::munmap(memory, size);
    return bad;
  }
  try {
    return std::shared_ptr<const file_bytes>{new file_bytes{path, bytes}};
  } catch (...) {
    ::munmap(memory, size);
    throw;
  }
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

file_bytes::~file_bytes() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

result<std::string> confined_path(const path_rule& rule, const std::string& base, std::string_view location,
                                  std::string_view whose, const std::string& also) try {
  const auto refused = [&](std::string_view why) {
    return failed(rule.refused,
                  "{}: {} '{}' {}; it must be a regular file inside the folder '{}', named relative to it", whose,
                  rule.what, location, why, base);
  };
  if (location.empty()) return refused("names no file");
  if (location.find('\0') != location.npos) return refused("has a zero byte in its name");
  if (location.front() == '/' || location.front() == '\\') return refused("is absolute");
  if (location.size() > 1 && location[1] == ':') return refused("names a drive");
  if (names_device(location)) return refused("names a device");
  if (!rule.inner_dot_dot && has_dot_dot(location)) return refused("has '..' in it");
  if (leads_out(location)) return refused("leads out of the folder");
  std::error_code error;
  const fs::path folder = fs::canonical(base.empty() ? fs::path{"."} : fs::path{base}, error);
  if (error) return failed(rule.refused, "{}: folder '{}': {}", whose, base, error.message());
  const fs::path file = fs::canonical(folder / fs::path{location}, error);
  if (error) return refused("cannot be opened (" + error.message() + ")");
  const auto is_inside_also = [&] {
    const fs::path second = also.empty() ? fs::path{} : fs::canonical(fs::path{also}, error);
    return !also.empty() && !error && is_inside(second, file);
  };
  if (!is_inside(folder, file) && !is_inside_also()) return refused("leads out of the folder through a symbolic link");
  if (!fs::is_regular_file(file, error)) return refused("is not a regular file");
  return file.string();
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
} catch (const std::exception& e) {
  return status{status_code::fail, e.what()};
}

}  // namespace cameo::inline CAMEO_ABI
