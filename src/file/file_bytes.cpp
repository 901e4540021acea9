#include <cameo/file/file_bytes.hpp>

#include "held_folder.hpp"
#include "messages.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

CAMEO_BEGIN_NAMESPACE
namespace {

status cannot_read(const std::string& path, std::string_view doing) {
  const int error = errno;
  const status_code code = error == ENOENT || error == ENOTDIR ? status_code::no_suchfile : code_of_system(error);
  return failed(code, "{}: {}: {}", path, doing, std::strerror(error));
}

}  // namespace

void detail::file_bytes::forget_pages() const {
  // A hint: where it fails, memory is kept.
  if (!bytes_.empty()) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

void detail::file_bytes::forget_pages(const void* data, std::size_t count) const {
  const auto* const first = static_cast<const std::byte*>(data);
  if (first < bytes_.data() || count > bytes_.size() || std::size_t(first - bytes_.data()) > bytes_.size() - count)
    return;
  const std::size_t page = std::size_t(::sysconf(_SC_PAGESIZE));
  const std::size_t from = (std::size_t(first - bytes_.data()) + page - 1) / page * page;
  const std::size_t to = std::size_t(first - bytes_.data() + std::ptrdiff_t(count)) / page * page;
  if (from < to) ::madvise(const_cast<std::byte*>(bytes_.data()) + from, to - from, MADV_DONTNEED);
}

result<std::shared_ptr<const detail::file_bytes>> detail::file_bytes::map(const std::string& path) {
  // Opening a pipe must not wait for its writer; for a regular file O_NONBLOCK means nothing.
  int opened = -1;
  do opened = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (opened < 0 && errno == EINTR);
  const detail::descriptor file{opened};
  if (!file) return cannot_read(path, "cannot open");
  return detail::map_opened(file, path);
}

result<std::shared_ptr<const detail::file_bytes>> detail::map_opened(const detail::descriptor& file,
                                                                     std::string path) try {
  struct stat facts{};
  if (::fstat(*file, &facts) != 0) return cannot_read(path, "cannot stat");
  if (!S_ISREG(facts.st_mode)) return failed(status_code::invalid_argument, "{}: not a regular file", path);
  const auto size = std::size_t(facts.st_size);
  const detail::file_id id{facts.st_dev, facts.st_ino};
  if (size == 0) return std::shared_ptr<const detail::file_bytes>{new detail::file_bytes{std::move(path), {}, id}};
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, *file, 0);
  if (memory == MAP_FAILED) return cannot_read(path, "cannot map");
  const std::span<const std::byte> bytes{static_cast<const std::byte*>(memory), size};
  // Reading past the end of a file that has shrunk since would end the process.
  struct stat now{};
  const bool is_known = ::fstat(*file, &now) == 0;
  if (!is_known || std::size_t(now.st_size) < size) {
    status bad = is_known ? failed(status_code::fail, "{}: became shorter while it was opened", path)
                          : cannot_read(path, "cannot stat");
    ::munmap(memory, size);
    return bad;
  }
  try {
    return std::shared_ptr<const detail::file_bytes>{new detail::file_bytes{std::move(path), bytes, id}};
  } catch (...) {
    ::munmap(memory, size);
    throw;
  }
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

detail::file_bytes::~file_bytes() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

CAMEO_END_NAMESPACE
