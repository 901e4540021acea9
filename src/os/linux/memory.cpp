#include "os/memory.hpp"

#include "native.hpp"

#include <algorithm>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace CAMEO_NAMESPACE::os {

std::size_t page_size() noexcept { return std::size_t(::sysconf(_SC_PAGESIZE)); }

void prefer_large_pages(void* memory, std::size_t bytes) noexcept {
  const std::size_t page = page_size();
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

result<std::span<const std::byte>> map(const handle& of, std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, native::number(of), 0);
  if (memory == MAP_FAILED) return last_error();
  return std::span<const std::byte>{static_cast<const std::byte*>(memory), bytes};
}

void unmap(std::span<const std::byte> mapped) noexcept {
  ::munmap(const_cast<std::byte*>(mapped.data()), mapped.size());
}

void forget_pages(std::span<const std::byte> mapped) noexcept {
  ::madvise(const_cast<std::byte*>(mapped.data()), mapped.size(), MADV_DONTNEED);
}

// The bytes are copied through a pipe: the system then reads the mapped pages, and reports a page that is gone because
// the file was shortened. A program that reads such a page itself is ended by a signal.
status copy_mapped(std::span<const std::byte> from, std::byte* to) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return last_error().in("no pipe for a copy of mapped bytes");
  const handle out = native::own(ends[0]), in = native::own(ends[1]);
  const int space = ::fcntl(ends[1], F_GETPIPE_SZ);
  if (space <= 0) return last_error().in("no pipe for a copy of mapped bytes");
  while (!from.empty()) {
    const std::size_t most = std::min(from.size(), std::size_t(space));
    const ssize_t written = uninterrupted([&] { return ::write(ends[1], from.data(), most); });
    if (written < 0) return last_error().in("became shorter while it was read");
    from = from.subspan(std::size_t(written));
    for (std::size_t left = std::size_t(written); left > 0;) {
      const ssize_t got = uninterrupted([&] { return ::read(ends[0], to, left); });
      if (got < 0) return last_error();
      to += got, left -= std::size_t(got);
    }
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::os
