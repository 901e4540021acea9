// Depthwise convolutions, pools and reordering in the NCHWc layout, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "nchwc_kernels.hpp"

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
namespace {

#include "nchwc_vectors-inl.hpp"

/// Applies addend and bounds to vector `v` of a pixel's sums, and stores it at element `at` of the line's outputs.
HWY_INLINE void put_depthwise(const nchwc_depthwise_line& p, std::int64_t at, int v, vec sum) {
  if (p.add) sum = hn::Add(sum, hn::LoadU(d, p.add + at));
  sum = bounded(sum, hn::Set(d, p.low), hn::Set(d, p.high));
  hn::StoreU(p.lanes == channel_block ? sum : cut(sum, p.lanes - v * lanes), d, p.y + at);
}

alignas(64) constexpr float zeros[channel_block] = {};

/// Computes vector `v` of the channels of outputs [at, at + Pixels), for dilation 1; neighboring outputs share the
/// pixels that are read. `Edge`: some of these may be outside of the line.
template <int Pixels, int Columns, int Stride, bool Edge>
void depthwise_tile(const nchwc_depthwise_line& p, std::int64_t at, int v) {
  constexpr int seen = (Pixels - 1) * Stride + Columns;
  vec sums[Pixels];
  const vec start = hn::LoadU(d, p.bias + v * lanes);
#pragma GCC unroll 8
  for (int i = 0; i < Pixels; ++i) sums[i] = start;
  const std::int64_t first = at * Stride - p.pad;
  const float* HWY_RESTRICT row = p.x + v * lanes;
  const float* HWY_RESTRICT w = p.w + v * lanes;
  for (std::int64_t r = 0; r < p.rows; ++r, row += p.row_step) {
    vec weights[Columns];
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c, w += channel_block) weights[c] = hn::LoadU(d, w);
#pragma GCC unroll 32
    for (int q = 0; q < seen; ++q) {
      const float* from = row + (first + q) * channel_block;
      if constexpr (Edge)
        if (std::uint64_t(first + q) >= std::uint64_t(p.width)) from = zeros;
      const vec x = hn::LoadU(d, from);
#pragma GCC unroll 8
      for (int c = 0; c < Columns; ++c)
        if (q >= c && (q - c) % Stride == 0 && (q - c) / Stride < Pixels)
          sums[(q - c) / Stride] = hn::MulAdd(weights[c], x, sums[(q - c) / Stride]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Pixels; ++i) put_depthwise(p, (at + i) * channel_block + v * lanes, v, sums[i]);
}

template <int Columns, int Stride, int Pixels>
HWY_INLINE void depthwise_part(const nchwc_depthwise_line& p, std::int64_t at, int v) {
  const std::int64_t first = at * Stride - p.pad;
  if (first >= 0 && first + (Pixels - 1) * Stride + Columns <= p.width)
    depthwise_tile<Pixels, Columns, Stride, false>(p, at, v);
  else depthwise_tile<Pixels, Columns, Stride, true>(p, at, v);
}

/// The most outputs of a tile. Emulated vectors, which have one element, gain nothing by more than two.
constexpr int most_depthwise = CAMEO_SIMD_EMULATED ? 2 : 8;
template <int Columns, int Stride, int Pixels = most_depthwise>
void depthwise_some(const nchwc_depthwise_line& p, std::int64_t at, std::int64_t count, int v) {
  if constexpr (Pixels > 1)
    if (count != Pixels) return depthwise_some<Columns, Stride, Pixels - 1>(p, at, count, v);
  depthwise_part<Columns, Stride, Pixels>(p, at, v);
}

/// Computes a line in as few tiles as possible, of about equal width.
template <int Columns, int Stride>
void depthwise_tiles(const nchwc_depthwise_line& p) {
  const std::int64_t tiles = (p.count + most_depthwise - 1) / most_depthwise;
  for (int v = 0; v < vectors; ++v) {
    std::int64_t at = 0;
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t n = p.count / tiles + (t < p.count % tiles);
      depthwise_some<Columns, Stride>(p, at, n, v);
      at += n;
    }
  }
}

/// The taps [first, last) of a window starting at `start` that are inside a line of `width` pixels.
struct inside_taps {
  std::int64_t first, last;
  inside_taps(std::int64_t start, std::int64_t taps, std::int64_t dilation, std::int64_t width)
      : first{start >= 0 ? 0 : std::min(taps, (-start + dilation - 1) / dilation)},
        last{start >= width ? 0 : std::min(taps, (width - start + dilation - 1) / dilation)} {}
};

/// Computes outputs one at a time, for any window.
void depthwise_any(const nchwc_depthwise_line& p) {
  for (std::int64_t at = 0; at < p.count; ++at) {
    const std::int64_t start = at * p.stride - p.pad;
    const inside_taps taps{start, p.columns, p.dilation, p.width};
    for (int v = 0; v < vectors; ++v) {
      vec sum = hn::LoadU(d, p.bias + v * lanes), other = hn::Zero(d);
      for (std::int64_t r = 0; r < p.rows; ++r) {
        const float* HWY_RESTRICT w = p.w + r * p.columns * channel_block + v * lanes;
        const float* HWY_RESTRICT from = p.x + r * p.row_step + start * channel_block + v * lanes;
        const std::int64_t step = p.dilation * channel_block;
        std::int64_t c = taps.first;
        for (; c + 2 <= taps.last; c += 2) {
          sum = hn::MulAdd(hn::LoadU(d, w + c * channel_block), hn::LoadU(d, from + c * step), sum);
          other = hn::MulAdd(hn::LoadU(d, w + (c + 1) * channel_block), hn::LoadU(d, from + (c + 1) * step), other);
        }
        if (c < taps.last) sum = hn::MulAdd(hn::LoadU(d, w + c * channel_block), hn::LoadU(d, from + c * step), sum);
      }
      put_depthwise(p, at * channel_block + v * lanes, v, hn::Add(sum, other));
    }
  }
}

void depthwise_line(const nchwc_depthwise_line& p) {
  if (p.dilation == 1 && p.columns == 3 && p.stride == 1) depthwise_tiles<3, 1>(p);
  else if (p.dilation == 1 && p.columns == 3 && p.stride == 2) depthwise_tiles<3, 2>(p);
  else if (p.dilation == 1 && p.columns == 5 && p.stride == 1) depthwise_tiles<5, 1>(p);
  else if (p.dilation == 1 && p.columns == 5 && p.stride == 2) depthwise_tiles<5, 2>(p);
  else depthwise_any(p);
  if (p.more) activate(*p.more, p.y, 0, 1, p.count, p.lanes);
}

template <bool Largest>
void pool_outputs(const nchwc_pool_line& p) {
  const vec none = Largest ? hn::Set(d, -std::numeric_limits<float>::infinity()) : hn::Zero(d);
  for (std::int64_t at = 0; at < p.count; ++at) {
    const std::int64_t start = at * p.stride - p.pad;
    const inside_taps taps{start, p.columns, p.dilation, p.width};
    for (int v = 0; v < vectors; ++v) {
      vec sum = none;
      for (std::int64_t r = 0; r < p.rows; ++r) {
        const float* HWY_RESTRICT from = p.x + r * p.row_step + v * lanes;
        for (std::int64_t c = taps.first; c < taps.last; ++c) {
          const vec x = hn::LoadU(d, from + (start + c * p.dilation) * channel_block);
          if constexpr (Largest) sum = hn::IfThenElse(hn::Or(hn::Gt(x, sum), hn::Ne(x, x)), x, sum);  // NaN spreads
          else sum = hn::Add(sum, x);
        }
      }
      if constexpr (!Largest) sum = hn::Mul(sum, hn::Set(d, p.scale[at]));
      hn::StoreU(sum, d, p.y + at * channel_block + v * lanes);
    }
  }
}

void pool_line(const nchwc_pool_line& p) {
  if (p.scale) pool_outputs<false>(p);
  else pool_outputs<true>(p);
}

/// Reduces all `count` pixels of a block, with four chains of operations to hide their latency.
template <bool Largest>
void reduce_pixels(const float* x, std::int64_t count, float* y) {
  const vec none = Largest ? hn::Set(d, -std::numeric_limits<float>::infinity()) : hn::Zero(d);
  const auto join = [](vec a, vec b) {
    if constexpr (Largest) return hn::IfThenElse(hn::Or(hn::Gt(b, a), hn::Ne(b, b)), b, a);
    else return hn::Add(a, b);
  };
  for (int v = 0; v < vectors; ++v) {
    const float* HWY_RESTRICT from = x + v * lanes;
    vec a = none, b = none, c = none, e = none;
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4, from += 4 * channel_block) {
      a = join(a, hn::LoadU(d, from)), b = join(b, hn::LoadU(d, from + channel_block));
      c = join(c, hn::LoadU(d, from + 2 * channel_block)), e = join(e, hn::LoadU(d, from + 3 * channel_block));
    }
    for (; i < count; ++i, from += channel_block) a = join(a, hn::LoadU(d, from));
    a = join(join(a, b), join(c, e));
    if constexpr (!Largest) a = hn::Mul(a, hn::Set(d, 1.0f / float(count)));
    hn::StoreU(a, d, y + v * lanes);
  }
}

#if CAMEO_SIMD_VECTORS
/// Transposes 4 x 4 elements.
HWY_INLINE void transpose_tile(const float* from, std::int64_t from_step, float* to, std::int64_t to_step) {
  const hn::FixedTag<float, 4> four;
  const auto a = hn::LoadU(four, from), b = hn::LoadU(four, from + from_step);
  const auto c = hn::LoadU(four, from + 2 * from_step), e = hn::LoadU(four, from + 3 * from_step);
  const auto ab = hn::InterleaveLower(four, a, b), ab2 = hn::InterleaveUpper(four, a, b);
  const auto ce = hn::InterleaveLower(four, c, e), ce2 = hn::InterleaveUpper(four, c, e);
  hn::StoreU(hn::ConcatLowerLower(four, ce, ab), four, to);
  hn::StoreU(hn::ConcatUpperUpper(four, ce, ab), four, to + to_step);
  hn::StoreU(hn::ConcatLowerLower(four, ce2, ab2), four, to + 2 * to_step);
  hn::StoreU(hn::ConcatUpperUpper(four, ce2, ab2), four, to + 3 * to_step);
}
#else
inline void transpose_tile(const float* from, std::int64_t from_step, float* to, std::int64_t to_step) {
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) to[j * to_step + i] = from[i * from_step + j];
}
#endif

void block_planes(const float* x, std::int64_t plane, std::int64_t channels, std::int64_t count, float* y) {
  std::int64_t i = 0;
  if (channels == channel_block)
    for (; i + 4 <= count; i += 4)
      for (std::int64_t c = 0; c < channel_block; c += 4)
        transpose_tile(x + c * plane + i, plane, y + i * channel_block + c, channel_block);
  for (; i < count; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) y[i * channel_block + c] = x[c * plane + i];
    for (std::int64_t c = channels; c < channel_block; ++c) y[i * channel_block + c] = 0;
  }
}

void unblock_planes(const float* x, std::int64_t plane, std::int64_t channels, std::int64_t count, float* y) {
  for (std::int64_t c = 0; c < channels;) {
    const std::int64_t n = c + 4 <= channels ? 4 : 1;
    std::int64_t i = 0;
    if (n == 4)
      for (; i + 4 <= count; i += 4) transpose_tile(x + i * channel_block + c, channel_block, y + c * plane + i, plane);
    for (; i < count; ++i)
      for (std::int64_t k = c; k < c + n; ++k) y[k * plane + i] = x[i * channel_block + k];
    c += n;
  }
}

/// y[i] = x[2 * i]. Nothing after x[2 * (count - 1)] is read.
void every_second(const float* x, std::int64_t count, float* y) {
  std::int64_t i = 0;
#if CAMEO_SIMD_VECTORS
  for (; i + lanes < count; i += lanes)
    hn::StoreU(hn::ConcatEven(d, hn::LoadU(d, x + 2 * i + lanes), hn::LoadU(d, x + 2 * i)), d, y + i);
  if (count >= lanes) {  // the last vector may overlap the one before; its upper half is read from one element earlier
    i = count - lanes;
    const vec low = hn::LoadU(d, x + 2 * i), high = hn::LoadU(d, x + 2 * i + lanes - 1);
    hn::StoreU(hn::ConcatUpperLower(d, hn::ConcatOdd(d, high, high), hn::ConcatEven(d, low, low)), d, y + i);
    return;
  }
#endif
  for (; i < count; ++i) y[i] = x[2 * i];
}
constexpr nchwc_kernels made_kernels{depthwise_line, pool_line,      reduce_pixels<false>, reduce_pixels<true>,
                                     block_planes,   unblock_planes, every_second};

}  // namespace

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

const nchwc_kernels& best_nchwc_kernels() { return *CAMEO_SIMD_BEST(made_kernels); }

}  // namespace CAMEO_NAMESPACE::eps
#endif
