#include <cameo/file/file_bytes.hpp>

#include "held_folder.hpp"
#include "messages.hpp"
#include "os/memory.hpp"

namespace CAMEO_NAMESPACE {
namespace {

status cannot_read(const std::string& path, std::string_view doing, const status& error) {
  return error.in(doing).in(path);
}

}  // namespace

void detail::file_bytes::forget_pages() const {
  if (!bytes_.empty()) os::forget_pages(bytes_);
}

void detail::file_bytes::forget_pages(const void* data, std::size_t count) const {
  const auto* const first = static_cast<const std::byte*>(data);
  if (first < bytes_.data() || count > bytes_.size() || std::size_t(first - bytes_.data()) > bytes_.size() - count)
    return;
  const std::size_t page = os::page_size();
  const std::size_t from = (std::size_t(first - bytes_.data()) + page - 1) / page * page;
  const std::size_t to = std::size_t(first - bytes_.data() + std::ptrdiff_t(count)) / page * page;
  if (from < to) os::forget_pages(bytes_.subspan(from, to - from));
}

result<std::shared_ptr<const detail::file_bytes>> detail::file_bytes::map(const std::string& path) {
  const result<os::handle> file = os::open({}, path, os::access::reading);
  if (!file) return cannot_read(path, "cannot open", file.error());
  return detail::map_opened(*file, path);
}

result<std::shared_ptr<const detail::file_bytes>> detail::map_opened(const os::handle& file, std::string path) try {
  const result<os::file_facts> facts = os::facts_of(file);
  if (!facts) return cannot_read(path, "cannot stat", facts.error());
  if (facts->kind != os::file_kind::file) return failed(status_code::invalid_argument, "{}: not a regular file", path);
  const auto size = std::size_t(facts->bytes);
  std::shared_ptr<detail::file_bytes> made{new detail::file_bytes{std::move(path), {}, facts->id}};
  if (size == 0) return std::shared_ptr<const detail::file_bytes>{std::move(made)};
  const result<std::span<const std::byte>> bytes = os::map(file, size);
  if (!bytes) return cannot_read(made->path(), "cannot map", bytes.error());
  made->bytes_ = *bytes;
  // The size is checked again: reading a mapping past the end of a file that has shrunk would kill the process.
  const result<os::file_facts> now = os::facts_of(file);
  if (!now) return cannot_read(made->path(), "cannot stat", now.error());
  if (now->bytes < facts->bytes)
    return failed(status_code::fail, "{}: became shorter while it was opened", made->path());
  return std::shared_ptr<const detail::file_bytes>{std::move(made)};
} catch (const std::bad_alloc&) {
  return status_code::out_of_memory;
}

detail::file_bytes::~file_bytes() {
  if (!bytes_.empty()) os::unmap(bytes_);
}

}  // namespace CAMEO_NAMESPACE
