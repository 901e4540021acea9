#pragma once
#include <cstring>

#include "attention_parts.hpp"
#include "functions/float_rows.hpp"
#include "group_codes.hpp"
#include "operands/usable_sizes.hpp"

// Shared by GroupQueryAttention and SparseAttention: a cache of keys in which each sequence has a separate length.
namespace CAMEO_NAMESPACE::eps {

/// The sizes that the inputs contain.
struct group_sizes {
  geometry::attention at;
  std::int64_t batches, length, size;  // of the new queries and keys
  std::int64_t past, total;            // the capacity of the past, and of present, in rows
  bool first;                          // there is no past, whatever past_key contains
  bool has_space = false;              // the capacity of the past includes the new rows; rows after these are kept
  std::int64_t window = 0;      // the past keeps at least this number of rows and drops older ones; 0: it keeps all
  const std::int32_t* lengths;  // the length of each sequence, minus one

  /// The numbers of positions of a sequence: keys() includes the new ones, past_of() does not.
  std::int64_t keys(std::int64_t batch) const { return std::int64_t(lengths[batch]) + 1; }
  std::int64_t past_of(std::int64_t batch) const { return first ? 0 : keys(batch) - length; }
  /// The number of rows that the cache of a sequence with this number of positions has; they are the last positions. As
  /// the operator's schema defines, a cache that needs space drops `past - window + 1` rows at once.
  std::int64_t kept(std::int64_t positions) const {
    if (window == 0 || positions <= past) return positions;
    const std::int64_t at_once = past - window + 1;
    return positions - at_once * ((positions - past + at_once - 1) / at_once);
  }
  /// The number of rows of the past before the new ones.
  std::int64_t rows_before(std::int64_t batch) const { return kept(past_of(batch)); }
  /// The number of these rows and of the new ones.
  std::int64_t joined_rows(std::int64_t batch) const { return rows_before(batch) + (first ? keys(batch) : length); }
};

/// Reads the sizes of inputs 0 to 4 (query, key, value, past_key, past_value).
inline status read_group_sizes(run_context& c, const geometry::group_query_attributes& how, std::int64_t total_length,
                               group_sizes& s) {
  if (status usable = usable_inputs(c, {0, 1, 2, 3, 4}); !usable) return usable;
  geometry::attention_inputs in = shapes_of(c, 3);
  in.total_length = total_length;
  const result<geometry::attention> made = geometry::group_query_attention_of<std::int64_t>(in, how);
  if (!made) return made.error();
  s.at = *made;
  s.batches = made->q.batches, s.length = made->q.length, s.size = made->q.size;
  s.past = made->past, s.total = made->keys, s.window = how.window, s.first = total_length == s.length;
  return {};
}

/// Rotates rows by angles: tables of cosines and sines, and the positions that select their rows.
struct rotation {
  const group_sizes& s;
  const float *cosines = nullptr, *sines = nullptr;
  std::int64_t half = 0, rows = 0;
  const std::int64_t* ids = nullptr;
  bool interleaved = false;

  std::int64_t position(std::int64_t batch, std::int64_t i) const {
    return ids ? ids[batch * s.length + i] : s.past_of(batch) + i;
  }
  void operator()(std::int64_t batch, std::int64_t at, std::int64_t, float* row) const {
    const std::int64_t apart = interleaved ? 1 : half, step = interleaved ? 2 : 1;
    const float *const co = cosines + position(batch, at) * half, *const si = sines + position(batch, at) * half;
    for (std::int64_t i = 0; i < half; ++i) {
      const float a = row[i * step], b = row[i * step + apart];
      row[i * step] = co[i] * a - si[i] * b;
      row[i * step + apart] = si[i] * a + co[i] * b;
    }
  }
};

/// The change of each new row of queries or keys: it is divided by its root mean square if there are weights for that,
/// then rotated if there are angles.
struct group_change {
  const float* weights = nullptr;
  float epsilon = 0;
  const rotation* angles = nullptr;
  std::int64_t size = 0;

  explicit operator bool() const { return weights || angles; }
  void operator()(std::int64_t batch, std::int64_t i, std::int64_t head, float* row) const {
    if (weights)
      normalize_row(
          normal_row<float>{.x = row, .scale = weights, .y = row, .n = size, .epsilon = epsilon, .centers = false});
    if (angles) (*angles)(batch, i, head, row);
  }
};
struct group_changes {
  group_change q, k;
};

/// Reads the tables of angles, and makes them changes of queries and keys.
inline status read_rotation(run_context& c, const group_sizes& s, const value& cosines, const value& sines,
                            const value& ids, rotation& out, group_changes& changes) {
  if (status given = check_needs("do_rotary", true, "cos_cache and sin_cache", cosines && sines); !given) return given;
  if (status fits = check_number("the width of cos_cache", cosines.shape[1], 0, s.size / 2); !fits) return fits;
  const auto co = wide_scores(c, cosines), si = wide_scores(c, sines);
  if (!co || !si) return status_code::out_of_memory;
  out.cosines = *co, out.sines = *si, out.half = cosines.shape[1], out.rows = cosines.shape[0];
  if (ids) out.ids = ids.as_unchecked<std::int64_t>().data();
  for (std::int64_t b = 0; b < s.batches; ++b)
    for (std::int64_t i = 0; i < s.length; ++i)
      if (status fits = check_number("a position", out.position(b, i), 0, out.rows - 1); !fits) return fits;
  changes.q.angles = changes.k.angles = &out;
  return {};
}

/// Writes the output present_key or present_value of a cache that drops rows: the last of the joined rows, followed by
/// zeros.
inline status keep_window(run_context& c, const group_sizes& s, const key_rows& joined, const value& past,
                          std::size_t output) {
  if (!c.has_output(output)) return {};
  const result<value*> made = c.output(output, past.shape);
  if (!made) return made.error();
  const value& present = **made;
  const geometry::attention_heads& at = joined.at;
  const std::int64_t bytes = bits_of(present.type) / 8;
  parallel_each(c, at.batches * at.heads, 1 + (1 << 16) / (1 + s.past * at.size), [&](std::int64_t h, std::size_t) {
    const std::int64_t batch = h / at.heads, rows = s.kept(s.keys(batch));
    const std::int64_t from = h * at.head_stride + (s.joined_rows(batch) - rows) * at.size, to = h * s.past * at.size;
    std::byte* const begin = static_cast<std::byte*>(present.data) + to * bytes;
    if (joined.type == present.type)
      std::memcpy(begin, static_cast<const std::byte*>(joined.data) + from * bytes,
                  std::size_t(rows * at.size * bytes));
    else save_floats(static_cast<const float*>(joined.data) + from, present, to, rows * at.size);
    std::memset(begin + rows * at.size * bytes, 0, std::size_t((s.past - rows) * at.size * bytes));
  });
  return {};
}

/// Joins the cache of keys or values: for each sequence and head the past, the new rows (changed), and zeros: [batch,
/// key heads, total, size]. With scales the cache is quantized. A cache that drops rows is joined in scratch.
template <class F>
result<key_rows> join_ragged(run_context& c, const group_sizes& s, const head_tensor& now, std::size_t past_input,
                             std::size_t output, const float* scales, const F& change) {
  const value& past = c.input(past_input);
  const auto rows_before = [&s](std::int64_t batch) { return s.rows_before(batch); };
  const past_heads old{past, s.past, 0, s.has_space};
  const std::size_t to = s.window > 0 ? c.output_count() : output;
  result<key_rows> joined = scales ? join_codes(c, now, old, rows_before, s.total, to, scales, change)
                                   : joined_keys(c, now, old, rows_before, s.total, to, change);
  if (!joined) return joined;
  if (s.window > 0)
    if (status kept = keep_window(c, s, *joined, past, output); !kept) return kept;
  if (scales) return numbers_of_codes(c, *joined, s.size);
  return joined;
}

/// Queries, and keys and values with those of the past before them.
struct group_rows {
  key_source<float> q;
  key_rows k, v;
};

/// The scales of a quantized cache, a number for each channel of each head; null: the cache is not quantized.
struct group_scales {
  const float *k = nullptr, *v = nullptr;
};

/// Reads inputs 0 to 4 (query, key, value, past_key, past_value) and writes outputs 1 and 2.
inline result<group_rows> read_group(run_context& c, const group_sizes& s, const group_changes& changes,
                                     const group_scales& scales = {}) {
  const head_tensor queries{c.input(0), s.at.q}, k{c.has_input(1) ? c.input(1) : c.input(0), s.at.k};
  const head_tensor v{c.has_input(2) ? c.input(2) : c.input(0), s.at.v};
  const auto q = wide_heads<float>(c, queries, changes.q);
  if (!q) return q.error();
  const auto k_all = join_ragged(c, s, k, 3, 1, scales.k, changes.k);
  if (!k_all) return k_all.error();
  const auto v_all = join_ragged(c, s, v, 4, 2, scales.v, unchanged{});
  if (!v_all) return v_all.error();
  return group_rows{*q, *k_all, *v_all};
}

}  // namespace CAMEO_NAMESPACE::eps
