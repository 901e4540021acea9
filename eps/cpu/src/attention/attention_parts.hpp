#pragma once
#include <algorithm>
#include <limits>

#include "cells/attention_kernels.hpp"

#include "common/float_values.hpp"
#include "common/operand_values.hpp"

// What the operators of attention share.
namespace cameo::inline CAMEO_ABI::eps {

/// Q, K or V, whichever way it comes: element (batch, head, position, i) lies at batch * batch_stride + head *
/// head_stride + position * row_stride + i.
struct head_layout {
  std::int64_t batches, heads, length, size;
  std::int64_t batch_stride, head_stride, row_stride;

  head_strides strides() const { return {batch_stride, head_stride, row_stride}; }
  /// [batch, length, heads, size], `row` from one position to the next.
  static head_layout joined(std::int64_t batches, std::int64_t heads, std::int64_t length, std::int64_t size,
                            std::int64_t row) {
    return {batches, heads, length, size, length * row, size, row};
  }
  /// [batch, heads, length, size]
  static head_layout split(std::int64_t batches, std::int64_t heads, std::int64_t length, std::int64_t size) {
    return {batches, heads, length, size, heads * length * size, length * size, size};
  }
};

/// Keys or values, where they lie.
template <class C>
struct key_source {
  const C* data = nullptr;
  head_layout at{};
};

/// Puts the past [batch, heads, past, size] (or none) and what is new behind one another, for each head, at `to`:
/// [batch, heads, past + length, size].
template <class C>
void join_heads(run_context& c, const C* old, std::int64_t past, const key_source<C>& now, C* to) {
  const head_layout& at = now.at;
  const std::int64_t heads = at.batches * at.heads, row = (past + at.length) * at.size;
  parallel_for(c, heads, std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, row)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t h = first; h < last; ++h) {
                   C* target = to + h * row;
                   target = std::copy_n(old + h * past * at.size, past * at.size, target);
                   const C* source = now.data + h / at.heads * at.batch_stride + h % at.heads * at.head_stride;
                   for (std::int64_t i = 0; at.size > 0 && i < at.length; ++i, source += at.row_stride)
                     target = std::copy_n(source, at.size, target);
                 }
               });
}

/// Keys or values with those of the past before them: where they lie now, [batch, head, length, size] when there is a
/// past or an output for them.
template <class C>
result<key_source<C>> join_past(run_context& c, const key_source<C>& now, const value& before, std::size_t output) {
  if (!before && !c.has_output(output)) return now;
  const head_layout& at = now.at;
  const std::int64_t past = before ? before.shape[2] : 0;
  const extents shape{at.batches, at.heads, past + at.length, at.size};
  std::span<const C> old;
  if (before) {
    const auto read = read_floats<C>(c, before);
    if (!read) return read.error();
    old = *read;
  }
  float_output<C> to;
  if (c.has_output(output)) {
    const auto made = write_floats<C>(c, output, shape);
    if (!made) return made.error();
    to = *made;
  } else {
    std::int64_t count = 0;
    if (!shape.checked_count(count)) return status_code::out_of_memory;
    const auto made = c.scratch<C>(std::size_t(count));
    if (!made) return made.error();
    to.data = made->data();
  }
  join_heads(c, old.data(), past, now, to.data);
  if (to.tensor) to.store();
  return key_source<C>{to.data, head_layout::split(at.batches, at.heads, past + at.length, at.size)};
}

/// Runs it on as many threads as it is worth.
inline status run_attention(run_context& c, attention_work work) {
  work.run = &c;
  attention_cut cut{};
  if (!cut_attention(work, cut)) return status_code::out_of_memory;
  if (cut.tasks == 0) return {};
  const std::int64_t blocks = (cut.tasks + cut.grain - 1) / cut.grain;
  const std::int64_t lanes = blocks == 1 ? 1 : std::int64_t(c.lanes());
  std::int64_t count = 0;
  if (!checked_multiply(std::int64_t(cut.scratch), lanes, count)) return status_code::out_of_memory;
  const result<std::span<float>> scratch = c.scratch<float>(std::size_t(count));
  if (!scratch) return scratch.error();
  c.parallel_lanes(std::size_t(blocks), [&](std::size_t block, std::size_t lane) {
    const std::int64_t first = std::int64_t(block) * cut.grain;
    attend(work, cut, first, std::min(first + cut.grain, cut.tasks), scratch->data() + lane * cut.scratch);
  });
  return {};
}

/// A mask as what is added to scores: floats as they are, bool as 0 or -infinity.
inline result<std::span<const float>> read_bias(run_context& c, const value& mask) {
  if (mask.type != dtype::boolean) return read_floats<float>(c, mask);
  const auto count = std::size_t(mask.shape.count());
  const result<std::span<float>> bias = c.scratch<float>(count);
  if (!bias) return bias.error();
  const bool* const shown = static_cast<const bool*>(mask.data);
  for (std::size_t i = 0; i < count; ++i) (*bias)[i] = shown[i] ? 0 : -std::numeric_limits<float>::infinity();
  return std::span<const float>{*bias};
}

}  // namespace cameo::inline CAMEO_ABI::eps
