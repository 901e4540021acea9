#include "program/allocations.hpp"

#include <cerrno>
#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CAMEO_HEAP_IS_TAKEN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define CAMEO_HEAP_IS_TAKEN
#endif

#ifdef CAMEO_HEAP_IS_TAKEN

namespace cameo::program {
std::optional<std::uint64_t> allocation_count() { return {}; }
}  // namespace cameo::program

#else

#include <atomic>

// With glibc, a program may define malloc, which then replaces glibc's in the whole process. free is not replaced,
// since the memory still comes from glibc.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {
std::atomic<std::uint64_t> calls{0};
void count() { calls.fetch_add(1, std::memory_order_relaxed); }
}  // namespace

extern "C" {
void* malloc(std::size_t size) noexcept { return count(), __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) noexcept { return count(), __libc_calloc(n, size); }
void* realloc(void* old, std::size_t size) noexcept { return count(), __libc_realloc(old, size); }
void* memalign(std::size_t alignment, std::size_t size) noexcept { return count(), __libc_memalign(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return count(), __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
  if (alignment == 0 || alignment % sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
  count();
  void* const made = __libc_memalign(alignment, size);
  if (!made) return ENOMEM;
  *result = made;
  return 0;
}
}

namespace cameo::program {
std::optional<std::uint64_t> allocation_count() { return calls.load(std::memory_order_relaxed); }
}  // namespace cameo::program

#endif
