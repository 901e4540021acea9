#include <cameo/core/arena.hpp>

#include <algorithm>
#include <cstdlib>

#ifdef __linux__
#include <sys/mman.h>
#endif

CAMEO_BEGIN_NAMESPACE
namespace {

/// Requests pages of 2 MiB. Each run reads all weights of a model; with pages of 4 KiB it also waits for page tables.
void prefer_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef __linux__
  constexpr std::uintptr_t page = 4096;
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + size) / page * page;
  if (size >= std::size_t{1} << 22) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace

void* arena::allocate_all(std::size_t count, std::size_t width, std::size_t alignment) noexcept {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, width, &bytes) ? nullptr : allocate(bytes, alignment);
}

void* arena::allocate_more(const void* from, std::size_t used, std::size_t count, std::size_t width,
                           std::size_t alignment) noexcept {
  void* const memory = allocate_all(count, width, alignment);
  if (memory && used) std::memcpy(memory, from, used * width);
  return memory;
}

detail::heap_arena::~heap_arena() {
  destroy_kept();
  while (chunks_) std::free(std::exchange(chunks_, chunks_->next));
}

bool detail::heap_arena::grow(arena& base, std::size_t bytes, std::size_t alignment) noexcept {
  auto& self = static_cast<detail::heap_arena&>(base);
  std::size_t need = 0;
  if (__builtin_add_overflow(bytes, alignment + sizeof(chunk), &need)) return false;
  const std::size_t size = std::max(need, std::min(self.next_chunk_, self.left_));
  if (size > self.left_) return false;
  auto* const fresh = static_cast<chunk*>(std::malloc(size));
  if (!fresh) return false;
  prefer_large_pages(fresh, size);
  fresh->next = std::exchange(self.chunks_, fresh);
  self.left_ -= size;
  if (self.next_chunk_ < std::size_t{1} << 22) self.next_chunk_ *= 2;
  self.refill({reinterpret_cast<std::byte*>(fresh + 1), size - sizeof(chunk)});
  return true;
}

CAMEO_END_NAMESPACE
