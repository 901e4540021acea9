#pragma once
#include <cameo/core/status.hpp>

#include <cstddef>

namespace cameo::inline CAMEO_ABI {

/// A kind of memory: where it comes from and how bytes get to and from the host's. Kind 0 is always the host's. The
/// functions must be thread-safe; `self` outlives all that uses it.
struct memory_source {
  std::string_view name;
  void* self = nullptr;
  /// Null when there is none; `alignment` is a power of two.
  void* (*allocate)(void* self, std::size_t bytes, std::size_t alignment) noexcept = nullptr;
  void (*release)(void* self, void* memory, std::size_t bytes) noexcept = nullptr;
  status (*copy_from_host)(void* self, void* to, const void* from, std::size_t bytes) = nullptr;
  status (*copy_to_host)(void* self, void* to, const void* from, std::size_t bytes) = nullptr;
};

/// The process's heap.
CAMEO_API memory_source heap_memory() noexcept;

}  // namespace cameo::inline CAMEO_ABI
