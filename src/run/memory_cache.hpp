#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/core/result.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace CAMEO_NAMESPACE {

/// Allocates memory of one kind in blocks of any size, and keeps released blocks for later requests, so that repeated
/// work takes nothing from the source. It does not access the memory. Thread-safe.
class memory_cache {
 public:
  explicit memory_cache(const memory_source& source) : source_{source} {}  // the source outlives it
  memory_cache(const memory_cache&) = delete;
  memory_cache& operator=(const memory_cache&) = delete;
  /// Releases all blocks, including those in use.
  ~memory_cache() {
    for (const entry& each : all_) source_.release(source_.self, each.memory, each.bytes);
  }

  struct deleter {
    memory_cache* cache;
    void operator()(void* memory) const { cache->release(memory); }
  };
  /// A block in use, released when this is destroyed.
  using block = std::unique_ptr<void, deleter>;
  /// Elements in this kind of memory or in host memory.
  struct place {
    void* memory = nullptr;
    bool is_of_host = true;
  };

  /// Copies bytes between places of which at most one is in host memory; copies within this kind of memory go through
  /// `buffer`. Errors of the hooks.
  status copy(place from, place to, std::size_t bytes, std::vector<std::byte>& buffer) const {
    if (!from.is_of_host && !to.is_of_host) buffer.resize(bytes);
    void* const there = from.is_of_host ? from.memory : to.is_of_host ? to.memory : buffer.data();
    status done;
    if (!from.is_of_host) done = source_.copy_to_host(source_.self, there, from.memory, bytes);
    if (done && !to.is_of_host) done = source_.copy_from_host(source_.self, to.memory, there, bytes);
    return done;
  }
  /// Copies bytes from host memory to a new block. OUT_OF_MEMORY; errors of the hook.
  result<block> bring(const void* from, std::size_t bytes) {
    block made{allocate(bytes), deleter{this}};
    if (!made) return status_code::out_of_memory;
    if (bytes == 0) return made;
    if (status s = source_.copy_from_host(source_.self, made.get(), from, bytes); !s) return s;
    return made;
  }

  /// A block of at least so many bytes, aligned to 64 bytes; null when the source is used up.
  void* allocate(std::size_t bytes) noexcept {
    if (bytes > std::size_t(-1) / 2) return nullptr;
    // Sizes are rounded up by at most an eighth, so that requests of similar sizes can share blocks.
    const std::size_t unit = std::max<std::size_t>(64, std::bit_floor(bytes) / 8);
    bytes = std::max(unit, (bytes + unit - 1) / unit * unit);
    const std::lock_guard hold{guard_};
    entry* best = nullptr;
    for (entry& each : all_)
      if (!each.in_use && each.bytes >= bytes && each.bytes / 2 <= bytes && (!best || each.bytes < best->bytes))
        best = &each;
    if (best) return best->in_use = true, best->memory;
    return make(bytes);
  }
  /// Ends the use of a block; has no effect for other memory.
  void release(void* memory) noexcept {
    const std::lock_guard hold{guard_};
    for (entry& each : all_)
      if (each.memory == memory) each.in_use = false;
  }

 private:
  struct entry {
    void* memory;
    std::size_t bytes;
    bool in_use;
  };

  void* make(std::size_t bytes) noexcept {
    try {
      all_.reserve(all_.size() + 1);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    void* made = source_.allocate(source_.self, bytes, 64);
    if (!made) {  // the source may have memory after unused blocks are released
      std::erase_if(all_, [&](const entry& each) {
        if (!each.in_use) source_.release(source_.self, each.memory, each.bytes);
        return !each.in_use;
      });
      made = source_.allocate(source_.self, bytes, 64);
    }
    if (made) all_.push_back({made, bytes, true});
    return made;
  }

  const memory_source source_;
  std::mutex guard_;
  std::vector<entry> all_;
};

}  // namespace CAMEO_NAMESPACE
