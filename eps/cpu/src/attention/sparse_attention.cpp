#include <cameo/eps/cpu/sparse_attention.hpp>

#include "group_parts.hpp"
#include "machine/lane_scratch.hpp"
#include "operands/usable_sizes.hpp"
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
  if (starts.shape[0] < 1 || heads % starts.shape[0] != 0)
    return bad_input("block_row_indices ", starts.shape, " must have a number of layouts that divides ", heads,
                     " heads");
  out.count = starts.shape[0], out.rows = starts.shape[1] - 1, out.width = columns.shape[1];
  out.starts = static_cast<const std::int32_t*>(starts.data);
  out.columns = static_cast<const std::int32_t*>(columns.data);
  for (std::int64_t l = 0; l < out.count; ++l) {
    const std::int32_t* const row = out.starts + l * (out.rows + 1);
    for (std::int64_t r = 0; r <= out.rows; ++r)
      if (row[r] < (r > 0 ? row[r - 1] : 0) || row[r] > out.width)
        return bad_input("block_row_indices has ", row[r], "; it must ascend, from 0 or more to at most ", out.width);
    for (std::int64_t i = row[0]; i < row[out.rows]; ++i)
      if (const std::int32_t column = out.columns[l * out.width + i]; column < 0 || column >= out.rows)
        return bad_input("block_col_indices has ", column, ", must lie in [0,", out.rows, ")");
  }
  return {};
}

status read_sparse_sizes(run_context& c, std::int64_t heads, std::int64_t key_heads, group_sizes& s) {
  const value &q = c.input(0), &past_k = c.input(3), &lengths = c.input(8);
  if (status fits = read_new_sizes(c, heads, key_heads, s); !fits) return fits;
  const extents& past = past_k.shape;
  if (past[3] != s.size) return bad_input("past_key ", past, " must have rows of ", s.size);
  for (const extents* one : {&q.shape, &past})
    if (status usable = usable_sizes("an input", *one); !usable) return usable;
  s.past = s.total = past[2], s.has_space = true;
  s.first = *static_cast<const std::int32_t*>(c.input(7).data) == s.length;
  const auto less_one = c.scratch<std::int32_t>(std::size_t(s.batches));
  if (!less_one) return less_one.error();
  s.lengths = less_one->data();
  if (s.first && s.length > s.past)
    return bad_input("query has ", s.length, " positions, past_key has space for ", s.past);
  for (std::int64_t b = 0; b < s.batches; ++b) {
    const std::int32_t count = static_cast<const std::int32_t*>(lengths.data)[b];
    if (count < 1 || count > s.past || (s.first ? count > s.length : count < s.length))
      return bad_input("key_total_sequence_lengths has ", count, "; with ", s.length, " new keys",
                       s.first ? " and no past" : "", " it does not fit into the ", s.past, " places of past_key");
    (*less_one)[std::size_t(b)] = count - 1;
  }
  return {};
}

}  // namespace

result<sparse_attention> sparse_attention::bind(bind_context& c) {
  sparse_attention made;
  if (status read = read_heads(c, made.heads, made.key_heads); !read) return read;
  made.block = c.int_or("sparse_block_size", 0);
  made.scale = c.float_or("scale", 0);
  made.rotates = c.int_or("do_rotary", 0) != 0, made.interleaved = c.int_or("rotary_interleaved", 0) != 0;
  return made;
}

status sparse_attention::run(run_context& c) const {
  group_sizes s{};
  block_layouts layouts{};
  layouts.block = block;
  if (status read = read_sparse_sizes(c, heads, key_heads, s); !read) return read;
  if (status read = read_layouts(c.input(5), c.input(6), heads, layouts); !read) return read;
  const auto y = float_output<float>::make(c, 0, {s.batches, s.length, heads * s.size});
  if (!y) return y.error();
  rotation angles{s};
  angles.interleaved = interleaved;
  if (rotates)
    if (status read = read_rotation(c, s, c.input(9), c.input(10), {}, angles); !read) return read;
  group_changes changes{};
  changes.q.angles = changes.k.angles = rotates ? &angles : nullptr;
  const result<group_rows> rows = read_group(c, s, heads, key_heads, changes);
  if (!rows) return rows.error();
  if (s.batches == 0 || s.length == 0 || s.size == 0) return y->store(c), status{};

  std::int64_t most = 0;  // the number of keys of the longest sequence
  for (std::int64_t b = 0; b < s.batches; ++b) most = std::max(most, s.past_of(b) + s.length);
  if ((most - 1) / block >= layouts.rows)
    return bad_input("there are ", most, " keys, and blocks of ", block, " for ", layouts.rows, " rows");
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
