#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/core/result.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

CAMEO_BEGIN_NAMESPACE

/// Memory of one kind for callers that take and give back pieces of any size: pieces are kept for whoever asks next, so
/// that work that repeats takes nothing from the source. The memory itself is not touched. Thread-safe.
class kept_pieces {
 public:
  explicit kept_pieces(const memory_source& from) : from_{from} {}  // which outlives it
  kept_pieces(const kept_pieces&) = delete;
  kept_pieces& operator=(const kept_pieces&) = delete;
  /// Gives everything back, pieces that are in use, too.
  ~kept_pieces() {
    for (const entry& each : all_) from_.release(from_.self, each.memory, each.bytes);
  }

  struct deleter {
    kept_pieces* of;
    void operator()(void* memory) const { of->release(memory); }
  };
  /// Memory in use until this is gone.
  using piece = std::unique_ptr<void, deleter>;
  /// Elements that lie in this memory or in the host's.
  struct place {
    void* memory = nullptr;
    bool is_of_host = true;
  };

  /// Copies bytes between places that are not both the host's; within this memory by way of `between`. Errors of the
  /// hooks.
  status copy(place from, place to, std::size_t bytes, std::vector<std::byte>& between) const {
    if (!from.is_of_host && !to.is_of_host) between.resize(bytes);
    void* const there = from.is_of_host ? from.memory : to.is_of_host ? to.memory : between.data();
    status done;
    if (!from.is_of_host) done = from_.copy_to_host(from_.self, there, from.memory, bytes);
    if (done && !to.is_of_host) done = from_.copy_from_host(from_.self, to.memory, there, bytes);
    return done;
  }
  /// A copy of bytes of the host's. OUT_OF_MEMORY; errors of the hook.
  result<piece> bring(const void* from, std::size_t bytes) {
    piece made{allocate(bytes), deleter{this}};
    if (!made) return status_code::out_of_memory;
    if (bytes == 0) return made;
    if (status s = from_.copy_from_host(from_.self, made.get(), from, bytes); !s) return s;
    return made;
  }

  /// A piece of at least so many bytes, aligned to 64; null when the source has none left.
  void* allocate(std::size_t bytes) noexcept {
    if (bytes > std::size_t(-1) / 2) return nullptr;
    // Sizes are rounded by at most an eighth, so that those that differ a little can take each other's pieces.
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
  /// Ends the use of a piece; nothing happens for memory that is none.
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
    void* made = from_.allocate(from_.self, bytes, 64);
    if (!made) {  // perhaps it has, once pieces that are not in use are back
      std::erase_if(all_, [&](const entry& each) {
        if (!each.in_use) from_.release(from_.self, each.memory, each.bytes);
        return !each.in_use;
      });
      made = from_.allocate(from_.self, bytes, 64);
    }
    if (made) all_.push_back({made, bytes, true});
    return made;
  }

  const memory_source from_;
  std::mutex guard_;
  std::vector<entry> all_;
};

CAMEO_END_NAMESPACE
