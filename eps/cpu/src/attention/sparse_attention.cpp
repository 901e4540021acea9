#include <cameo/eps/cpu/sparse_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "group_parts.hpp"
#include "machine/lane_scratch.hpp"
#include "skeletons/float_output.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The blocks of keys that a block of queries attends to, in each layout.
struct block_layouts {
  std::int64_t count, rows, width, block;  // layouts; rows of blocks; columns of a layout; keys of a block
  const std::int32_t *starts, *columns;

  /// Sets scores[i] to 0 for the keys that a query at this position attends to in a layout, else to -infinity. It does
  /// not apply causality.
  void show(std::int64_t layout, std::int64_t position, float* scores, std::int64_t keys) const {
    std::fill_n(scores, keys, -std::numeric_limits<float>::infinity());
    const std::int32_t* const row = starts + layout * (rows + 1) + position / block;
    for (std::int64_t i = row[0]; i < row[1]; ++i) {
      const std::int64_t first = columns[layout * width + i] * block;
      if (first < keys) std::fill_n(scores + first, std::min(block, keys - first), 0.0f);
    }
  }
};

status read_layouts(const value& starts, const value& columns, std::int64_t heads, block_layouts& out) {
  if (status s = check_multiple("num_heads", heads, starts.shape[0], "the layouts of block_row_indices"); !s) return s;
  out.count = starts.shape[0], out.rows = starts.shape[1] - 1, out.width = columns.shape[1];
  out.starts = static_cast<const std::int32_t*>(starts.data);
  out.columns = static_cast<const std::int32_t*>(columns.data);
  for (std::int64_t l = 0; l < out.count; ++l) {
    const std::int32_t* const row = out.starts + l * (out.rows + 1);
    for (std::int64_t r = 0; r <= out.rows; ++r)
      if (status s = check_element("block_row_indices", row[r], r > 0 ? row[r - 1] : 0, out.width); !s) return s;
    for (std::int64_t i = row[0]; i < row[out.rows]; ++i)
      if (status s = check_element("block_col_indices", out.columns[l * out.width + i], 0, out.rows - 1); !s) return s;
  }
  return {};
}

status read_sparse_sizes(run_context& c, std::int64_t heads, std::int64_t key_heads, group_sizes& s) {
  const value& lengths = c.input(8);
  if (status fits = read_group_sizes(c, {heads, key_heads}, c.input(0).shape[1], s); !fits) return fits;
  s.total = s.past, s.has_space = true;
  s.first = *static_cast<const std::int32_t*>(c.input(7).data) == s.length;
  const auto less_one = c.scratch<std::int32_t>(std::size_t(s.batches));
  if (!less_one) return less_one.error();
  s.lengths = less_one->data();
  if (status fits = check_number("the length of query", s.length, 0, s.first ? s.past : s.length); !fits) return fits;
  const std::int64_t least = s.first ? 1 : std::max<std::int64_t>(1, s.length), most = s.first ? s.length : s.past;
  for (std::int64_t b = 0; b < s.batches; ++b) {
    const std::int32_t count = static_cast<const std::int32_t*>(lengths.data)[b];
    if (status fits = check_element("key_total_sequence_lengths", count, least, most); !fits) return fits;
    (*less_one)[std::size_t(b)] = count - 1;
  }
  return {};
}

/// Sets `most` to the number of keys of the longest sequence, for which there must be blocks.
status count_keys(const group_sizes& s, const block_layouts& layouts, std::int64_t& most) {
  for (std::int64_t b = 0; b < s.batches; ++b) most = std::max(most, s.past_of(b) + s.length);
  return check_number("the last block of keys", (most - 1) / layouts.block, 0, layouts.rows - 1);
}

}  // namespace

result<sparse_attention> sparse_attention::bind(bind_context& c) {
  const attributes_of<op::microsoft::SparseAttention> a{c.attributes};
  if (status s = of_model(check_multiple("num_heads", a.num_heads, a.kv_num_heads, "kv_num_heads")); !s) return s;
  sparse_attention made{a.num_heads, a.kv_num_heads, a.sparse_block_size, a.scale.value_or(0)};
  made.rotates = a.do_rotary.value_or(0) != 0, made.interleaved = a.rotary_interleaved.value_or(0) != 0;
  return made;
}

status sparse_attention::run(run_context& c) const {
  group_sizes s{};
  block_layouts layouts{};
  layouts.block = block;
  if (status read = read_sparse_sizes(c, heads, key_heads, s); !read) return read;
  if (status read = read_layouts(c.input(5), c.input(6), heads, layouts); !read) return read;
  const auto y = float_output<float>::make(c, 0, s.at.y);
  if (!y) return y.error();
  rotation angles{s};
  angles.interleaved = interleaved;
  group_changes changes{};
  const status rotated = rotates ? read_rotation(c, s, c.input(9), c.input(10), {}, angles, changes) : status{};
  if (!rotated) return rotated;
  const result<group_rows> rows = read_group(c, s, changes);
  if (!rows) return rows.error();
  if (c.input(0).shape.count() == 0) return y->store(c), status{};

  std::int64_t most = 0;
  if (status fits = count_keys(s, layouts, most); !fits) return fits;
  attention_work work = work_of(rows->q, rows->k, rows->v, s.total, scale);
  work.causal = true, work.run = &c;
  // The queries are computed in blocks, so that the bias, which contains the layouts, takes little memory.
  const std::int64_t part = std::min<std::int64_t>(s.length, 64), shown = s.first ? 1 : s.batches;
  const auto seen = scratch_of<float>(c, {shown, heads, part, most});
  const auto lengths = c.scratch<std::int64_t>(std::size_t(s.batches));
  if (!seen || !lengths) return status_code::out_of_memory;
  work.bias = *seen, work.lengths = lengths->data();
  work.queries = part, work.keys = most;
  attention_tiles tiles{};
  if (!tile_attention(work, tiles)) return status_code::out_of_memory;
  const auto buffers = lane_scratch<float>::make(c, tiles.scratch);
  if (!buffers) return buffers.error();
  for (std::int64_t first = 0; first < s.length; first += part) {
    work.queries = std::min(part, s.length - first);
    work.keys = most - s.length + first + work.queries;
    work.bias_keys = work.keys;
    work.at_bias = {s.first ? 0 : heads * work.queries * work.keys, work.queries * work.keys, work.keys};
    work.q = rows->q.data + first * work.at_q.row, work.y = y->data + first * work.at_y.row;
    for (std::int64_t b = 0; b < s.batches; ++b) (*lengths)[std::size_t(b)] = s.past_of(b) + first + work.queries;
    parallel_each_row(c, shown * heads * work.queries, 16, [&](std::int64_t i, std::size_t) {
      const std::int64_t b = i / (heads * work.queries), head = i / work.queries % heads;
      layouts.show(head % layouts.count, s.past_of(b) + first + i % work.queries, *seen + i * work.keys, work.keys);
    });
    if (c.stopped() || !tile_attention(work, tiles)) return status_code::canceled;
    for_each_task(c, tiles.split(c.lanes()), [&](const work_task& task, std::size_t worker) {
      attend(work, tiles, task.outer, task.outer + task.outer_count, buffers->at(worker));
    });
  }
  y->store(c);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
