#include <cameo/core/memory.hpp>

#include <cstdlib>
#include <cstring>

namespace CAMEO_NAMESPACE {

memory_source heap_memory() noexcept {
  const auto copy = [](void*, void* to, const void* from, std::size_t bytes) -> status {
    if (bytes) std::memcpy(to, from, bytes);
    return {};
  };
  return {"host",
          nullptr,
          [](void*, std::size_t bytes, std::size_t alignment) noexcept -> void* {
            if (bytes > std::size_t(-1) / 2) return nullptr;
            // Not std::aligned_alloc, which C libraries of embedded devices lack.
            return ::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
          },
          [](void*, void* memory, std::size_t) noexcept { std::free(memory); },
          copy,
          copy};
}

}  // namespace CAMEO_NAMESPACE
