#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/plan/block_heap.hpp>

#include <algorithm>
#include <atomic>

namespace CAMEO_NAMESPACE {

/// The blocks of one memory kind in a run, in chunks that stay allocated between runs.
class run_memory {
 public:
  run_memory(const memory_source& source, arena& tables, std::size_t limit)
      : source_{&source}, heap_{tables}, chunks_{tables}, limit_{limit} {}
  run_memory(const run_memory&) = delete;
  run_memory& operator=(const run_memory&) = delete;
  ~run_memory() {
    for (const chunk& c : chunks_) source_->release(source_->self, c.data, c.size);
  }

  /// Allocates a block. Null when the limit or the source is used up.
  detail::storage_block* allocate(std::size_t bytes) noexcept {
    detail::storage_block* block = heap_.allocate(bytes);
    if (!block && grow(bytes)) block = heap_.allocate(bytes);
    if (block) peak_ = std::max(peak_, in_use_ += block->size);
    return block;
  }
  void release(detail::storage_block* block) noexcept {
    in_use_ -= block->size;
    heap_.release(block);
  }

  /// Frees all blocks.
  void clear() noexcept {
    heap_.clear();
    in_use_ = 0;
    for (const chunk& c : chunks_)
      if (!heap_.add_range(c.address(), c.size)) return;
  }
  /// Announces that the next run will need `bytes` in one block, besides what runs took so far.
  void expect(std::size_t bytes) noexcept { wanted_ = std::max(wanted_, bytes + peak_); }
  /// True when one chunk is too small for what runs take.
  bool scattered() const noexcept { return chunks_.size() > 1 || total_ < wanted_; }
  std::size_t bytes() const noexcept { return total_; }

  /// True between gather() and drop_old(), while the contents of old chunks move.
  bool moves() const noexcept { return old_ > 0; }
  /// Allocates one chunk for the contents of all chunks, and half as much again for runs that place values differently;
  /// drop_old() releases the old ones. False, without a change, when there is no memory for it.
  [[nodiscard]] bool gather() noexcept {
    const std::size_t size = detail::align_up(std::max(total_ + total_ / 2, wanted_), std::size_t{1} << 14);
    if (size > limit_) return false;
    void* const memory = source_->allocate(source_->self, size, chunk_alignment);
    if (!memory) return false;
    old_ = chunks_.size();
    if (!chunks_.push_back({memory, size})) return source_->release(source_->self, memory, size), false;
    heap_.clear();
    in_use_ = 0;
    return heap_.add_range(chunks_.back().address(), size);
  }
  void drop_old() noexcept {
    for (std::size_t i = 0; i < old_; ++i) source_->release(source_->self, chunks_[i].data, chunks_[i].size);
    const chunk last = chunks_.back();
    chunks_.clear();
    static_cast<void>(chunks_.push_back(last));  // its capacity suffices
    total_ = last.size;
    old_ = 0;
  }

 private:
  struct chunk {
    void* data;
    std::size_t size;
    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data); }
  };
  static constexpr std::size_t chunk_alignment = 64;

  bool grow(std::size_t bytes) noexcept {
    if (bytes > limit_ || total_ > limit_ - bytes) return false;
    std::size_t size = std::max({detail::align_up(bytes, 4096), total_ / 2, std::size_t{1} << 14});
    size = std::min(size, (limit_ - total_) & ~(block_heap::granule - 1));
    if (size < bytes) return false;
    void* memory = source_->allocate(source_->self, size, chunk_alignment);
    if (!memory && (size = detail::align_up(bytes, block_heap::granule)))
      memory = source_->allocate(source_->self, size, chunk_alignment);
    if (!memory) return false;
    const chunk fresh{memory, size};
    if (!chunks_.push_back(fresh)) return source_->release(source_->self, memory, size), false;
    total_ += size;
    return heap_.add_range(fresh.address(), size);
  }

  const memory_source* source_;
  block_heap heap_;
  detail::arena_vector<chunk> chunks_;
  std::size_t limit_, total_ = 0, old_ = 0, in_use_ = 0, peak_ = 0, wanted_ = 0;
};

inline void pause_a_little() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

/// Guards tables that the steps of a level share. Held for some tens of instructions, never while a kernel runs.
class spin_lock {
 public:
  explicit spin_lock(std::atomic_flag* flag) noexcept : flag_{flag} {
    if (flag_)
      while (flag_->test_and_set(std::memory_order_acquire))
        while (flag_->test(std::memory_order_relaxed)) pause_a_little();
  }
  ~spin_lock() {
    if (flag_) flag_->clear(std::memory_order_release);
  }
  spin_lock(const spin_lock&) = delete;
  spin_lock& operator=(const spin_lock&) = delete;

 private:
  std::atomic_flag* flag_;
};

}  // namespace CAMEO_NAMESPACE
