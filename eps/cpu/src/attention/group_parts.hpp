#pragma once
#include "attention_parts.hpp"

// What GroupQueryAttention and SparseAttention share: a cache of keys, of which each batch has its own number.
namespace cameo::inline CAMEO_ABI::eps {

/// What the inputs say about sizes.
struct group_sizes {
  std::int64_t batches, length, size;  // of new queries and keys
  std::int64_t past, total;            // rows of the past, and of what is present afterwards
  bool first;                          // there is no past, whatever past_key holds
  const std::int32_t* lengths;         // of each batch, less one

  std::int64_t keys(std::int64_t batch) const { return std::int64_t(lengths[batch]) + 1; }
  std::int64_t past_of(std::int64_t batch) const { return first ? 0 : keys(batch) - length; }
};

/// The tables of angles, and the positions that they are taken at.
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

inline status read_rotation(run_context& c, const group_sizes& s, const value& cosines, const value& sines,
                            const value& ids, rotation& out) {
  if (!cosines || !sines || cosines.shape != sines.shape || cosines.shape.rank() != 2 || cosines.shape[1] * 2 > s.size)
    return bad_input("do_rotary needs cos_cache and sin_cache [positions, at most half of ", s.size, "], not ",
                     cosines.shape, " and ", sines.shape);
  const auto co = wide_scores(c, cosines), si = wide_scores(c, sines);
  if (!co || !si) return status_code::out_of_memory;
  out.cosines = *co, out.sines = *si, out.half = cosines.shape[1], out.rows = cosines.shape[0];
  if (ids) {
    if (ids.shape != extents{s.batches, s.length})
      return bad_input("position_ids ", ids.shape, " must be ", extents{s.batches, s.length});
    out.ids = ids.as_unchecked<std::int64_t>().data();
  }
  for (std::int64_t b = 0; b < s.batches; ++b)
    for (std::int64_t i = 0; i < s.length; ++i)
      if (const std::int64_t at = out.position(b, i); at < 0 || at >= out.rows)
        return bad_input("position ", at, " is not in [0,", out.rows, ") of the tables of angles");
  return {};
}

/// present: for each batch and head the past, what is new (turned), and zeros: [batch, key heads, total, size].
template <class F>
result<key_rows> join_ragged(run_context& c, const group_sizes& s, const head_tensor& now, std::size_t past_input,
                             std::size_t output, const F& change) {
  const auto past_of = [&s](std::int64_t batch) { return s.past_of(batch); };
  return joined_keys(c, now, {c.input(past_input), s.past}, past_of, s.total, output, change);
}

}  // namespace cameo::inline CAMEO_ABI::eps
