#include <cameo/plan/block_heap.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {

detail::storage_block* block_heap::new_descriptor() noexcept {
  if (spare_) {
    detail::storage_block* const block = std::exchange(spare_, spare_->next);
    *block = {};
    return block;
  }
  result<std::span<detail::storage_block>> fresh = descriptors_->take<detail::storage_block>(1);
  if (!fresh || !made_.push_back(fresh->data())) return nullptr;
  return fresh->data();
}

void block_heap::recycle(detail::storage_block* block) noexcept { block->next = std::exchange(spare_, block); }

void block_heap::put_free(detail::storage_block* block) noexcept {
  const unsigned bin = bin_of(block->size);
  block->free = true;
  block->previous = nullptr;
  block->next = bins_[bin];
  if (block->next) block->next->previous = block;
  bins_[bin] = block;
  filled_ |= std::uint64_t{1} << bin;
}

void block_heap::take_free(detail::storage_block* block) noexcept {
  const unsigned bin = bin_of(block->size);
  if (block->previous) block->previous->next = block->next;
  else bins_[bin] = block->next;
  if (block->next) block->next->previous = block->previous;
  if (!bins_[bin]) filled_ &= ~(std::uint64_t{1} << bin);
  block->free = false;
  block->next = block->previous = nullptr;
}

detail::storage_block* block_heap::allocate(std::size_t bytes) noexcept {
  if (bytes > std::size_t(-1) / 2) return nullptr;
  const std::size_t size = detail::align_up(std::max<std::size_t>(bytes, 1), granule);
  const unsigned bin = bin_of(size);
  detail::storage_block* found = nullptr;
  int looked_at = 0;
  for (detail::storage_block* b = bins_[bin]; b && looked_at < 16; b = b->next, ++looked_at)
    if (b->size >= size && (!found || b->size < found->size)) found = b;
  if (!found) {
    const std::uint64_t larger = bin >= 63 ? 0 : filled_ & (~std::uint64_t{0} << (bin + 1));
    if (!larger) return nullptr;
    found = bins_[std::countr_zero(larger)];
  }
  if (found->size > size) {
    detail::storage_block* const rest = new_descriptor();
    if (!rest) return nullptr;
    take_free(found);
    rest->address = found->address + size;
    rest->size = found->size - size;
    rest->lower = found;
    rest->upper = found->upper;
    if (rest->upper) rest->upper->lower = rest;
    found->upper = rest;
    found->size = size;
    put_free(rest);
  } else {
    take_free(found);
  }
  found->references = 1;
  found->parts = 0;
  return found;
}

void block_heap::release(detail::storage_block* block) noexcept {
  block->references = 0;
  if (detail::storage_block* const upper = block->upper; upper && upper->free) {
    take_free(upper);
    block->size += upper->size;
    block->upper = upper->upper;
    if (block->upper) block->upper->lower = block;
    recycle(upper);
  }
  if (detail::storage_block* const lower = block->lower; lower && lower->free) {
    take_free(lower);
    lower->size += block->size;
    lower->upper = block->upper;
    if (lower->upper) lower->upper->lower = lower;
    recycle(block);
    block = lower;
  }
  put_free(block);
}

void block_heap::clear() noexcept {
  spare_ = nullptr;
  for (detail::storage_block* block : made_) recycle(block);
  for (detail::storage_block*& bin : bins_) bin = nullptr;
  filled_ = 0;
}

}  // namespace CAMEO_NAMESPACE
