#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/checked.hpp>
#include <cameo/core/memory.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {

/// Host memory from an arena. A released block is reused as a whole, for a request that fits into it; a runner requests
/// a few large blocks, so little is lost.
class arena_memory {
 public:
  explicit arena_memory(arena& source) noexcept : arena_{&source} {}
  arena_memory(const arena_memory&) = delete;
  arena_memory& operator=(const arena_memory&) = delete;

  /// The memory source for a runner. It refers to this object, which must outlive it.
  memory_source source() noexcept {
    return {"host",
            this,
            [](void* self, std::size_t bytes, std::size_t) noexcept {
              return static_cast<arena_memory*>(self)->allocate(bytes);
            },
            [](void* self, void* memory, std::size_t bytes) noexcept {
              static_cast<arena_memory*>(self)->release(memory, bytes);
            },
            copy,
            copy};
  }

 private:
  static constexpr std::size_t alignment = 64;  // the only alignment that a runner requests
  struct block {
    block* next;
    std::size_t bytes;
  };
  static std::size_t rounded(std::size_t bytes) noexcept {
    return detail::align_up(std::max<std::size_t>(bytes, 1), alignment);
  }
  static status copy(void*, void* to, const void* from, std::size_t bytes) {
    if (bytes) std::memcpy(to, from, bytes);
    return {};
  }

  void* allocate(std::size_t bytes) noexcept {
    if (bytes > std::size_t(-1) - alignment) return nullptr;
    for (block** at = &free_; *at; at = &(*at)->next)
      if ((*at)->bytes >= bytes) return std::exchange(*at, (*at)->next);
    return arena_->allocate(rounded(bytes), alignment);
  }
  void release(void* memory, std::size_t bytes) noexcept { free_ = ::new (memory) block{free_, rounded(bytes)}; }

  arena* arena_;
  block* free_ = nullptr;
};

}  // namespace CAMEO_NAMESPACE
