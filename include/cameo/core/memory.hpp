#pragma once
#include <cameo/core/status.hpp>

#include <concepts>
#include <cstddef>

namespace CAMEO_NAMESPACE {

/// A kind of memory: how it is allocated and how bytes are copied to and from host memory. Kind 0 is always host
/// memory. The functions must be thread-safe; `self` outlives all objects that use it.
struct memory_source {
  std::string_view name;
  void* self = nullptr;
  /// Returns null when no memory is left; `alignment` is a power of two.
  void* (*allocate)(void* self, std::size_t bytes, std::size_t alignment) noexcept = nullptr;
  void (*release)(void* self, void* memory, std::size_t bytes) noexcept = nullptr;
  status (*copy_from_host)(void* self, void* to, const void* from, std::size_t bytes) = nullptr;
  status (*copy_to_host)(void* self, void* to, const void* from, std::size_t bytes) = nullptr;
};

/// The process's heap.
CAMEO_API memory_source heap_memory() noexcept;

/// A user's allocator of host memory. `void* allocate(bytes, alignment) noexcept` returns null when no memory is left
/// (`alignment` is a power of two); `void release(memory, bytes) noexcept` gets what it returned. Thread-safe.
template <class M>
concept host_memory = requires(M& own, void* memory, std::size_t bytes) {
  { own.allocate(bytes, bytes) } -> std::same_as<void*>;
  own.release(memory, bytes);
  requires noexcept(own.allocate(bytes, bytes));
  requires noexcept(own.release(memory, bytes));
};

namespace detail {
/// A kind of host memory that `own` allocates, which outlives all objects that use it.
template <host_memory M>
memory_source memory_source_of(M& own) noexcept {
  memory_source made = heap_memory();  // host memory is copied in the same way
  made.self = &own;
  made.allocate = [](void* self, std::size_t bytes, std::size_t alignment) noexcept -> void* {
    return static_cast<M*>(self)->allocate(bytes, alignment);
  };
  made.release = [](void* self, void* memory, std::size_t bytes) noexcept {
    static_cast<M*>(self)->release(memory, bytes);
  };
  return made;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
