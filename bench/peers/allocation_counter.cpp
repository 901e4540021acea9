// Counts calls that allocate from the C library's heap, C++'s `new` among them, in a process that loads this library
// before all others (LD_PRELOAD). Not seen: memory straight from mmap, and allocators that keep stocks of their own.
#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
// glibc's own entry points: no look-up, which itself would allocate, is needed to get to them.
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {
std::atomic<unsigned long> calls{0};
void count() { calls.fetch_add(1, std::memory_order_relaxed); }
}  // namespace

extern "C" {
/// Calls of all threads since the process began.
unsigned long cameo_peers_allocations() { return calls.load(std::memory_order_relaxed); }

void* malloc(std::size_t size) { return count(), __libc_malloc(size); }
void* calloc(std::size_t n, std::size_t size) { return count(), __libc_calloc(n, size); }
void* realloc(void* old, std::size_t size) { return count(), __libc_realloc(old, size); }
void* memalign(std::size_t alignment, std::size_t size) { return count(), __libc_memalign(alignment, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) { return count(), __libc_memalign(alignment, size); }
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  if (alignment % sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
  count();
  void* const made = __libc_memalign(alignment, size);
  if (!made) return ENOMEM;
  *result = made;
  return 0;
}
}
