// Attention that does not store the matrix of scores, compiled once per instruction set. It processes blocks of keys
// and keeps, for each query, the largest score so far (peak) and the sum of exponentials (weight), by which sums of
// earlier blocks are rescaled (an "online softmax").
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <cameo/core/checked.hpp>

#include "attention_kernels.hpp"
#include "functions/math-inl.hpp"
#include "functions/narrow_vectors-inl.hpp"
#include "functions/sums-inl.hpp"
#include "skeletons/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
namespace attention {
namespace hn = hwy::HWY_NAMESPACE;
using lane_sums::load_some;
using math::set;
using math::tag;
using math::vec;
using math::whole_tag;
using whole_vec = hn::Vec<whole_tag>;

// A tile has up to `most_vectors` vectors of queries, one query per SIMD lane, so that neither K nor V has to be
// packed, and nothing is summed across a vector. rows_of is the number of keys, or elements of a value, at a time: as
// many as there are registers for their sums.
inline constexpr bool many_registers = CAMEO_SIMD_REGISTERS == 32;
inline constexpr int most_vectors = many_registers ? 4 : 2;
template <int Vectors>
inline constexpr int rows_of = Vectors == 4     ? 6
                               : Vectors == 3   ? 8
                               : many_registers ? 12
                               : Vectors == 2   ? 6
                                                : 8;
inline constexpr std::int64_t block = 128;  // keys of a block
inline constexpr std::int64_t near = 32;    // the number of keys whose values stay in the L1 cache
inline constexpr float never = -HUGE_VALF;

HWY_INLINE std::int64_t width() { return std::int64_t(hn::Lanes(tag{})); }
HWY_INLINE vec load(const float* x) { return hn::LoadU(tag{}, x); }
HWY_INLINE void store(vec v, float* y) { hn::StoreU(v, tag{}, y); }
/// A score plus its bias; a bias of -infinity hides the key even if the score is NaN or infinite.
HWY_INLINE vec biased(vec score, vec bias) {
  const vec hidden = set(never);
  return hn::IfThenElse(hn::Eq(bias, hidden), hidden, hn::Add(score, bias));
}
/// The number that is subtracted from scores before exp: the largest score, or 0 if all keys are hidden.
HWY_INLINE vec finite_peak(vec peak) { return hn::IfThenZeroElse(hn::Eq(peak, set(never)), peak); }
HWY_INLINE vec cap(vec score, float softcap) {
  return hn::Mul(set(softcap), math::tanh(hn::Mul(score, set(1 / softcap))));
}

/// to[j * to_stride + i] = from[i * from_stride + j] * factor for i < rows, j < columns.
void transpose(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, float factor,
               float* to, std::int64_t to_stride) {
#if CAMEO_SIMD_VECTORS
  const skeletons::four_floats d;
  const auto scale = hn::Set(d, factor);
  const auto store_four = [&](auto v, float* at) { hn::StoreU(hn::Mul(v, scale), d, at); };
#else
  const int store_four = 0;
#endif
  skeletons::transpose(from, from_stride, rows, columns, to, to_stride, store_four,
                       [factor](const float* one, float* at) { *at = *one * factor; });
}

/// Adds a bias [queries][n keys] to scores [n keys][queries].
void add_transposed(const float* bias, std::int64_t stride, std::int64_t queries, std::int64_t n, float* scores,
                    std::int64_t scores_stride) {
#if CAMEO_SIMD_VECTORS
  const skeletons::four_floats d;
  const auto hidden = hn::Set(d, never);
  const auto add_four = [&](auto v, float* at) {
    hn::StoreU(hn::IfThenElse(hn::Eq(v, hidden), hidden, hn::Add(hn::LoadU(d, at), v)), d, at);
  };
#else
  const int add_four = 0;
#endif
  skeletons::transpose(bias, stride, queries, n, scores, scores_stride, add_four,
                       [](const float* one, float* at) { *at = *one == never ? never : *at + *one; });
}

/// Computes y[i][q] = keep[q] * y[i][q] + sum over d of a[i * a_row + d * a_step] * b[d][q] for i < Rows, which is used
/// for both products of a tile. The rows of `b` and `y` have `Vectors` vectors. `keep` null: y has no previous
/// contents.
template <int Rows, int Vectors>
void multiply_rows(const float* a, std::int64_t a_row, std::int64_t a_step, const float* HWY_RESTRICT b,
                   std::int64_t depth, const vec* keep, float* HWY_RESTRICT y) {
  const std::int64_t lanes = width(), step = Vectors * lanes;
  vec sums[Rows][Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v)
      sums[i][v] = keep ? hn::Mul(keep[v], load(y + i * step + v * lanes)) : hn::Zero(tag{});
  for (std::int64_t d = 0; d < depth; ++d, a += a_step, b += step) {
    vec columns[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) columns[v] = load(b + v * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const vec factor = set(a[i * a_row]);
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) sums[i][v] = hn::MulAdd(factor, columns[v], sums[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) store(sums[i][v], y + i * step + v * lanes);
}
/// multiply_rows() for any number of rows.
template <int Vectors>
void multiply_all(const float* a, std::int64_t a_row, std::int64_t a_step, const float* b, std::int64_t rows,
                  std::int64_t depth, const vec* keep, float* y) {
  constexpr int most = rows_of<Vectors>;
  const std::int64_t step = Vectors * width();
  std::int64_t i = 0;
  for (; i + most <= rows; i += most)
    multiply_rows<most, Vectors>(a + i * a_row, a_row, a_step, b, depth, keep, y + i * step);
  for (; i + 4 <= rows; i += 4) multiply_rows<4, Vectors>(a + i * a_row, a_row, a_step, b, depth, keep, y + i * step);
  for (; i + 2 <= rows; i += 2) multiply_rows<2, Vectors>(a + i * a_row, a_row, a_step, b, depth, keep, y + i * step);
  for (; i < rows; ++i) multiply_rows<1, Vectors>(a + i * a_row, a_row, a_step, b, depth, keep, y + i * step);
}

/// The queries [start, start + count) of one head.
struct place {
  std::int64_t batch, head, start, count;
};
struct head_data {
  const float* q;
  std::int64_t k, v;  // the offsets in elements at which the head's keys and values begin
  const float *bias, *key_scales, *value_scales;
  float* y;
};
head_data data_of(const attention_work& w, const place& p) {
  const std::int64_t shared = p.head / (w.heads / w.key_heads);
  return {w.q + p.batch * w.at_q.batch + p.head * w.at_q.head + p.start * w.at_q.row,
          p.batch * w.at_k.batch + shared * w.at_k.head,
          p.batch * w.at_v.batch + shared * w.at_v.head,
          w.bias ? w.bias + p.batch * w.at_bias.batch + p.head * w.at_bias.head + p.start * w.at_bias.row : nullptr,
          w.key_scales ? w.key_scales + shared * w.size : nullptr,
          w.value_scales ? w.value_scales + shared * w.value_size : nullptr,
          w.y + p.batch * w.at_y.batch + p.head * w.at_y.head + p.start * w.at_y.row};
}

/// The keys that the queries of a tile attend to: from the first of any query to the last of any, and those that are in
/// the range of all queries; and the range of each query.
template <int Vectors>
struct tile_ranges {
  std::int64_t first_of_any, first_of_all, last_of_any, last_of_all;
  whole_vec first[Vectors], last[Vectors];

  tile_ranges(const attention_work& w, const place& p) {
    HWY_ALIGN std::int32_t firsts[Vectors * HWY_MAX_BYTES / 4] = {}, lasts[Vectors * HWY_MAX_BYTES / 4] = {};
    first_of_any = w.keys, first_of_all = 0, last_of_any = 0, last_of_all = w.keys;
    for (std::int64_t i = 0; i < p.count; ++i) {
      std::int64_t one = 0, end = 0;
      w.range_of(p.batch, p.start + i, one, end);
      firsts[i] = std::int32_t(one), lasts[i] = std::int32_t(end);
      if (one < end) first_of_any = std::min(first_of_any, one), last_of_any = std::max(last_of_any, end);
      first_of_all = std::max(first_of_all, one), last_of_all = std::min(last_of_all, end);
    }
    for (int v = 0; v < Vectors; ++v) {
      first[v] = hn::Load(whole_tag{}, firsts + v * width());
      last[v] = hn::Load(whole_tag{}, lasts + v * width());
    }
  }
};

/// Applies softcap, bias and the queries' ranges to the scores of keys [key, key + n).
template <int Vectors>
void finish_scores(const attention_work& w, const place& p, const float* bias, const tile_ranges<Vectors>& ranges,
                   std::int64_t key, std::int64_t n, float* scores) {
  const std::int64_t lanes = width(), step = Vectors * lanes;
  if (w.softcap > 0)
    for (float* s = scores; s < scores + n * step; s += lanes) store(cap(load(s), w.softcap), s);
  if (bias && w.at_bias.row) {
    add_transposed(bias + key, w.at_bias.row, p.count, n, scores, step);
  } else if (bias) {
    for (std::int64_t j = 0; j < n; ++j)
      for (float* s = scores + j * step; s < scores + (j + 1) * step; s += lanes)
        store(biased(load(s), set(bias[key + j])), s);
  }
  if (key >= ranges.first_of_all && key + n <= ranges.last_of_all) return;
  for (std::int64_t j = 0; j < n; ++j) {
    const whole_vec at = hn::Set(whole_tag{}, std::int32_t(key + j));
    for (int v = 0; v < Vectors; ++v) {
      float* const s = scores + j * step + v * lanes;
      const auto seen = hn::AndNot(hn::Lt(at, ranges.first[v]), hn::Lt(at, ranges.last[v]));
      store(hn::IfThenElse(hn::RebindMask(tag{}, seen), load(s), set(never)), s);
    }
  }
}

/// Rows of keys or values as float, in place or widened in a buffer. A tile reads each of them many times.
struct float_rows {
  const float* data;
  std::int64_t row;
};
template <class K>
float_rows widen_rows(const K* from, std::int64_t row, std::int64_t n, std::int64_t size, float* room) {
  for (std::int64_t j = 0; j < n; ++j, from += row) {
    float* const to = room + j * size;
    std::int64_t i = 0;
    for (; i + width() <= size; i += width()) store(narrow_vectors::load(tag{}, from + i), to + i);
    for (; i < size; ++i) to[i] = narrow_rows::widened(from[i]);
  }
  return {room, size};
}
float_rows rows_of_keys(dtype type, const void* from, std::int64_t first, std::int64_t row, std::int64_t n,
                        std::int64_t size, float* room) {
  if (type == dtype::f16) return widen_rows(static_cast<const float16*>(from) + first, row, n, size, room);
  if (type == dtype::bf16) return widen_rows(static_cast<const bfloat16*>(from) + first, row, n, size, room);
  if (type == dtype::i8) return widen_rows(static_cast<const std::int8_t*>(from) + first, row, n, size, room);
  return {static_cast<const float*>(from) + first, row};
}

/// Multiplies row i by factors[i]; rows have `step` elements.
void scale_rows(const float* factors, std::int64_t rows, std::int64_t step, float* y) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (float* at = y + i * step; at < y + (i + 1) * step; at += width())
      store(hn::Mul(load(at), set(factors[i])), at);
}

template <int Vectors>
void attend_tile(const attention_work& w, const place& p, float* scratch) {
  const std::int64_t lanes = width(), step = Vectors * lanes;
  float *const queries = scratch, *const scores = queries + w.size * step, *const sums = scores + block * step;
  float* const room = sums + w.value_size * step;  // for widened keys and values
  const head_data at = data_of(w, p);
  if (p.count < step) std::fill_n(queries, w.size * step, 0.0f);
  transpose(at.q, w.at_q.row, p.count, w.size, w.scale, queries, step);
  if (at.key_scales) scale_rows(at.key_scales, w.size, step, queries);
  const tile_ranges<Vectors> ranges{w, p};
  vec peak[Vectors], weight[Vectors], keep[Vectors], ones[Vectors];
  for (int v = 0; v < Vectors; ++v) {
    ones[v] = set(1.0f);
    peak[v] = w.sinks ? set(w.sinks[p.head]) : set(never);
    weight[v] = w.sinks ? set(1.0f) : hn::Zero(tag{});
  }
  bool started = false;
  detail::stop_pace pace;
  for (std::int64_t key = ranges.first_of_any, n; key < ranges.last_of_any; key += n) {
    if (w.run && w.run->stopped(pace)) return;
    // Blocks end at multiples of their size, wherever the first begins, so that the result of a query does not depend
    // on the other queries of its tile.
    n = std::min(block - key % block, ranges.last_of_any - key);
    const float_rows keys = rows_of_keys(w.key_type, w.k, at.k + key * w.at_k.row, w.at_k.row, n, w.size, room);
    multiply_all<Vectors>(keys.data, keys.row, 1, queries, n, w.size, nullptr, scores);
    finish_scores<Vectors>(w, p, at.bias, ranges, key, n, scores);
    for (int v = 0; v < Vectors; ++v) {
      float* const column = scores + v * lanes;
      vec top = peak[v], top2 = top;
      std::int64_t j = 0;
      for (; j + 2 <= n; j += 2)
        top = hn::Max(top, load(column + j * step)), top2 = hn::Max(top2, load(column + (j + 1) * step));
      if (j < n) top = hn::Max(top, load(column + j * step));
      top = hn::Max(top, top2);
      const vec base = finite_peak(top);
      keep[v] = math::exp_down(hn::Sub(peak[v], base));
      peak[v] = top;
      weight[v] = hn::Mul(weight[v], keep[v]);
      for (j = 0; j < n; ++j) {
        const vec e = math::exp_down(hn::Sub(load(column + j * step), base));
        store(e, column + j * step);
        weight[v] = hn::Add(weight[v], e);
      }
    }
    for (std::int64_t j = 0; j < n; j += near, started = true) {
      const std::int64_t some = std::min(near, n - j);
      const float_rows values =
          rows_of_keys(w.key_type, w.v, at.v + (key + j) * w.at_v.row, w.at_v.row, some, w.value_size, room);
      multiply_all<Vectors>(values.data, 1, values.row, scores + j * step, w.value_size, some,
                            !started ? nullptr
                            : j == 0 ? keep
                                     : ones,
                            sums);
    }
  }
  if (!started) std::fill_n(sums, w.value_size * step, 0.0f);
  for (int v = 0; v < Vectors; ++v) {
    const vec factor = hn::IfThenZeroElse(hn::Eq(weight[v], hn::Zero(tag{})), hn::Div(set(1.0f), weight[v]));
    for (std::int64_t i = 0; i < w.value_size; ++i) {
      float* const s = sums + i * step + v * lanes;
      store(hn::Mul(load(s), factor), s);
    }
  }
  if (at.value_scales) scale_rows(at.value_scales, w.value_size, step, sums);
  transpose(sums, step, w.value_size, p.count, 1, at.y, w.at_y.row);
}

/// Computes y[c] = keep * y[c] + sum over j of weights[j] * v[j][c] for `Vectors` vectors of c; if it `starts`, y has
/// no previous contents.
template <int Vectors, class K>
void add_values(const float* weights, const K* v, std::int64_t row, std::int64_t n, vec keep, bool starts, float* y) {
  const std::int64_t lanes = width();
  vec even[Vectors], odd[Vectors];
#pragma GCC unroll 16
  for (int i = 0; i < Vectors; ++i) {
    even[i] = starts ? hn::Zero(tag{}) : hn::Mul(load(y + i * lanes), keep);
    odd[i] = hn::Zero(tag{});
  }
  std::int64_t j = 0;
  for (; j + 2 <= n; j += 2, v += 2 * row) {
    const vec a = set(weights[j]), b = set(weights[j + 1]);
#pragma GCC unroll 16
    for (int i = 0; i < Vectors; ++i) {
      even[i] = hn::MulAdd(a, narrow_vectors::load(tag{}, v + i * lanes), even[i]);
      odd[i] = hn::MulAdd(b, narrow_vectors::load(tag{}, v + row + i * lanes), odd[i]);
    }
  }
  if (j < n) {
    const vec a = set(weights[j]);
#pragma GCC unroll 16
    for (int i = 0; i < Vectors; ++i) even[i] = hn::MulAdd(a, narrow_vectors::load(tag{}, v + i * lanes), even[i]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < Vectors; ++i) store(hn::Add(even[i], odd[i]), y + i * lanes);
}

/// The dot product of a query and a key, summed in the same order as by lane_sums::dot().
template <class K>
HWY_INLINE float dot_with_key(const float* query, const K* key, std::int64_t n) {
  const auto load_keys = [](const K* from, std::int64_t count) HWY_ATTR {
    if (count == lane_sums::width<float>) return narrow_vectors::load(tag{}, from);
    HWY_ALIGN float some[lane_sums::width<float>];
    for (std::int64_t i = 0; i < lane_sums::width<float>; ++i)
      some[i] = i < count ? narrow_rows::widened(from[i]) : 0.0f;
    return load(some);
  };
  return lane_sums::sum_of<float>(n, [&](std::int64_t i, std::int64_t count, vec sum) HWY_ATTR {
    return hn::MulAdd(lane_sums::load_up_to(query + i, count), load_keys(key + i, count), sum);
  });
}

/// A block of one query's softmax: the scores of `n` keys, to which `bias` is added where it is not null, become the
/// exponentials of their distances to the highest score so far, which `peak` becomes; `weight` gets their sum. Returns
/// the factor of all that was summed before. One function for all types of keys.
HWY_NOINLINE vec exponentiate(const attention_work& w, const float* bias, std::int64_t n, float* scores, float& peak,
                              float& weight) {
  const std::int64_t lanes = width();
  const std::int64_t padded = (n + lanes - 1) / lanes * lanes;
  std::fill(scores + n, scores + padded, never);
  vec top = set(peak);
  for (std::int64_t j = 0; j < padded; j += lanes) {
    vec s = load(scores + j);
    if (w.softcap > 0) s = cap(s, w.softcap);
    if (bias) s = biased(s, n - j < lanes ? load_some(bias + j, n - j) : load(bias + j));
    if (n - j < lanes) {  // softcap has changed the padding, which has to stay hidden
      store(s, scores + j);
      std::fill(scores + n, scores + padded, never);
      s = load(scores + j);
    }
    store(s, scores + j);
    top = hn::Max(top, s);
  }
  const float highest = hn::GetLane(hn::MaxOfLanes(tag{}, top));
  const vec base = finite_peak(set(highest)), keep = math::exp_down(hn::Sub(set(peak), base));
  const float total = lane_sums::sum_of<float>(padded, [&](std::int64_t j, std::int64_t, vec sum) HWY_ATTR {
    const vec e = math::exp_down(hn::Sub(load(scores + j), base));
    store(e, scores + j);
    return hn::Add(sum, e);
  });
  peak = highest;
  weight = weight * hn::GetLane(keep) + total;
  return keep;
}

/// Attention of a single query, which reads K and V once, in the order of memory.
template <class K>
void attend_one(const attention_work& w, const place& p, float* scratch) {
  const head_data at = data_of(w, p);
  const std::int64_t lanes = width();
  float *const scores = scratch, *const query = scores + block, *const sums = query + w.size;
  for (std::int64_t i = 0; i < w.size; ++i) query[i] = at.q[i] * w.scale;
  for (std::int64_t i = 0; at.key_scales && i < w.size; ++i) query[i] *= at.key_scales[i];
  std::int64_t first = 0, last = 0;
  w.range_of(p.batch, p.start, first, last);
  float peak = w.sinks ? w.sinks[p.head] : never, weight = w.sinks ? 1.0f : 0.0f;
  bool starts = true;
  const K* const keys_at = static_cast<const K*>(w.k) + at.k;
  detail::stop_pace pace;
  for (std::int64_t key = first; key < last; key += block) {
    if (w.run && w.run->stopped(pace)) return;
    const std::int64_t n = std::min(block, last - key);
    for (std::int64_t j = 0; j < n; ++j) scores[j] = dot_with_key(query, keys_at + (key + j) * w.at_k.row, w.size);
    const vec keep = exponentiate(w, at.bias ? at.bias + key : nullptr, n, scores, peak, weight);
    const K* const values = static_cast<const K*>(w.v) + at.v + key * w.at_v.row;
    std::int64_t c = 0;
    for (; c + 4 * lanes <= w.value_size; c += 4 * lanes)
      add_values<4>(scores, values + c, w.at_v.row, n, keep, starts, sums + c);
    for (; c + lanes <= w.value_size; c += lanes)
      add_values<1>(scores, values + c, w.at_v.row, n, keep, starts, sums + c);
    for (; c < w.value_size; ++c) {
      float even_odd[2] = {starts ? 0 : sums[c] * hn::GetLane(keep), 0};
      for (std::int64_t j = 0; j < n; ++j)
        even_odd[j % 2] =
            lane_sums::multiply_add(scores[j], narrow_rows::widened(values[j * w.at_v.row + c]), even_odd[j % 2]);
      sums[c] = even_odd[0] + even_odd[1];
    }
    starts = false;
  }
  if (starts) std::fill_n(sums, w.value_size, 0.0f);
  const float factor = weight == 0 ? 0 : 1 / weight;
  for (std::int64_t i = 0; i < w.value_size; ++i) at.y[i] = sums[i] * factor;
  for (std::int64_t i = 0; at.value_scales && i < w.value_size; ++i) at.y[i] *= at.value_scales[i];
}

template <int Vectors>
void attend_with(std::int64_t vectors, const attention_work& w, const place& p, float* scratch) {
  if (vectors >= Vectors) return attend_tile<Vectors>(w, p, scratch);
  if constexpr (Vectors > 1) attend_with<Vectors - 1>(vectors, w, p, scratch);
}

}  // namespace attention

/// The number of queries of a tile: 1, or whole vectors.
std::int64_t tile_of_attention(std::int64_t queries) {
  constexpr std::int64_t few = 4;  // equal on all instruction sets, as the two algorithms round sums differently
  const std::int64_t lanes = attention::width();
  if (queries <= few) return 1;
  const std::int64_t most = attention::most_vectors * lanes, tiles = (queries + most - 1) / most;
  return ((queries + tiles - 1) / tiles + lanes - 1) / lanes * lanes;
}

void attend_now(const attention_work& w, const attention_tiles& tiles, std::int64_t first, std::int64_t last,
                float* scratch) {
  const std::int64_t lanes = attention::width();
  for (std::int64_t task = first; task < last; ++task) {
    const std::int64_t head = task / tiles.per_head, start = task % tiles.per_head * tiles.queries;
    const attention::place p{head / w.heads, head % w.heads, start, std::min(tiles.queries, w.queries - start)};
    if (tiles.queries == 1 && w.key_type == dtype::f16) attention::attend_one<float16>(w, p, scratch);
    else if (tiles.queries == 1 && w.key_type == dtype::bf16) attention::attend_one<bfloat16>(w, p, scratch);
    else if (tiles.queries == 1 && w.key_type == dtype::i8) attention::attend_one<std::int8_t>(w, p, scratch);
    else if (tiles.queries == 1) attention::attend_one<float>(w, p, scratch);
    else attention::attend_with<attention::most_vectors>((p.count + lanes - 1) / lanes, w, p, scratch);
  }
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

void attention_work::range_of(std::int64_t batch, std::int64_t query, std::int64_t& first, std::int64_t& last) const {
  std::int64_t offset = past;
  first = 0, last = keys;
  if (lengths) {
    last = std::clamp<std::int64_t>(lengths[batch], 0, keys);
    if (!is_padded) offset = last - queries;
  }
  const std::int64_t place = query + offset;
  if (causal && !(last_sees_all && query + 1 == queries)) last = std::min(last, place + 1);
  if (right_window >= 0 && right_window < keys + queries) last = std::min(last, place + right_window + 1);
  if (left_window >= 0 && left_window < keys + queries) first = std::max(first, place - left_window);
  if (bias) last = std::min(last, bias_keys);
  last = std::max<std::int64_t>(last, 0), first = std::min(first, last);
}

bool tile_attention(const attention_work& w, attention_tiles& tiles) {
  constexpr std::int64_t keys_at_a_time = 128, most = std::numeric_limits<std::int32_t>::max();
  tiles.queries = CAMEO_SIMD_BEST(tile_of_attention)(std::max<std::int64_t>(1, w.queries));
  tiles.per_head = w.queries / tiles.queries + (w.queries % tiles.queries != 0);
  std::int64_t heads = 0, row = 0, cells = 0;
  if (w.keys > most || w.queries > most || !checked_multiply(w.batches, w.heads, heads) ||
      !checked_multiply(heads, tiles.per_head, tiles.count) || !checked_add(w.size, w.value_size, row) ||
      !checked_add(row, keys_at_a_time, cells) || !checked_multiply(cells, tiles.queries, cells))
    return false;
  std::int64_t wide = 0;  // elements of keys or values that a tile widens at a time
  if (w.key_type != dtype::f32 && tiles.queries > 1 &&
      (!checked_multiply(std::max(w.size, w.value_size), keys_at_a_time, wide) || !checked_add(cells, wide, cells)))
    return false;
  tiles.scratch = std::size_t(cells);
  tiles.cost = double(tiles.count) * double(tiles.queries) * double(std::max<std::int64_t>(1, row)) *
               double(std::max<std::int64_t>(1, w.keys));
  return true;
}

void attend(const attention_work& w, const attention_tiles& tiles, std::int64_t first, std::int64_t last,
            float* scratch) {
  CAMEO_SIMD_BEST(attend_now)(w, tiles, first, last, scratch);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
