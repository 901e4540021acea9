#include <cameo/os/heap_arena.hpp>

#include "os/memory.hpp"

#include <cameo/core/checked.hpp>

#include <algorithm>
#include <cstdlib>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t large_chunk = std::size_t{1} << 22;

}  // namespace

detail::heap_arena::~heap_arena() {
  destroy_kept();
  while (chunks_) std::free(std::exchange(chunks_, chunks_->next));
}

bool detail::heap_arena::grow(arena& base, std::size_t bytes, std::size_t alignment) noexcept {
  auto& self = static_cast<detail::heap_arena&>(base);
  std::size_t need = 0;
  if (!checked_add(bytes, alignment + sizeof(chunk), need)) return false;
  const std::size_t size = std::max(need, std::min(self.next_chunk_, self.left_));
  if (size > self.left_) return false;
  auto* const fresh = static_cast<chunk*>(std::malloc(size));
  if (!fresh) return false;
  if (size >= large_chunk) os::prefer_large_pages(fresh, size);  // weights, say
  fresh->next = std::exchange(self.chunks_, fresh);
  self.left_ -= size;
  if (self.next_chunk_ < large_chunk) self.next_chunk_ *= 2;
  self.refill({reinterpret_cast<std::byte*>(fresh + 1), size - sizeof(chunk)});
  return true;
}

}  // namespace CAMEO_NAMESPACE
