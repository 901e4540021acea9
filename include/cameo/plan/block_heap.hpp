#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/checked.hpp>

#include <bit>

namespace CAMEO_NAMESPACE {

namespace detail {
/// A range of memory, free or in use. In use it has a reference count: each value that is kept in it counts once.
struct storage_block {
  std::uintptr_t address = 0;
  std::size_t size = 0;                                // a multiple of block_heap::granule
  storage_block *lower = nullptr, *upper = nullptr;    // neighbors in memory
  storage_block *next = nullptr, *previous = nullptr;  // neighbors in a list: of free blocks, or of the owner
  std::uint32_t references = 0;
  std::uint32_t parts = 0;  // number of values in it, which are references, too
  std::uint8_t memory = 0;  // memory kind
  bool free = false;
};
}  // namespace detail

/// Allocates blocks of address ranges, and takes them back in any order. Good fit with free lists by power of two, so
/// constant time except for a bounded search. It never accesses the memory: the planner uses it for offsets, the runner
/// for memory of any kind. Not thread-safe.
class block_heap {
 public:
  static constexpr std::size_t granule = 64;

  /// Allocates block descriptors in `descriptors`, which outlives the heap. They are not freed.
  explicit block_heap(arena& descriptors) noexcept : descriptors_{&descriptors} {}
  block_heap(const block_heap&) = delete;
  block_heap& operator=(const block_heap&) = delete;

  /// Adds a range of `size` bytes, rounded down to whole granules (less than one is ignored). It must not touch an
  /// earlier range. Blocks are as aligned as `address`, up to a granule. False when there is no memory for descriptors.
  [[nodiscard]] bool add_range(std::uintptr_t address, std::size_t size) noexcept {
    if (size < granule) return true;
    detail::storage_block* const block = new_descriptor();
    if (!block) return false;
    block->address = address;
    block->size = size & ~(granule - 1);
    put_free(block);
    return true;
  }
  /// Allocates at least `bytes`, with one reference. Null when no free block is large enough or there is no memory for
  /// descriptors.
  CAMEO_API detail::storage_block* allocate(std::size_t bytes) noexcept;
  /// Frees a block. Its descriptor may be merged with a neighbor's.
  CAMEO_API void release(detail::storage_block*) noexcept;
  /// Removes all ranges and blocks. Blocks in use must not be released afterwards.
  CAMEO_API void clear() noexcept;

 private:
  static unsigned bin_of(std::size_t size) noexcept { return unsigned(std::bit_width(size / granule | 1)) - 1; }
  CAMEO_API detail::storage_block* new_descriptor() noexcept;
  CAMEO_API void recycle(detail::storage_block*) noexcept;
  CAMEO_API void put_free(detail::storage_block*) noexcept;
  CAMEO_API void take_free(detail::storage_block*) noexcept;

  arena* descriptors_;
  detail::storage_block* spare_ = nullptr;
  detail::arena_vector<detail::storage_block*> made_{*descriptors_};
  detail::storage_block* bins_[58] = {};
  std::uint64_t filled_ = 0;  // bit b: bins_[b] is not empty
};

}  // namespace CAMEO_NAMESPACE
