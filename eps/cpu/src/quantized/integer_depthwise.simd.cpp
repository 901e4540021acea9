// Quantized depthwise convolutions (one filter per channel) for any window, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "integer_depthwise.hpp"
#include "products/integer_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::depthwise {
namespace hn = hwy::HWY_NAMESPACE;

/// Loads bytes as a vector of floats.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::uint8_t* x) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const hn::RebindToSigned<D> words;
  return hn::ConvertTo(d, hn::PromoteTo(words, hn::LoadU(bytes, x)));
}

/// Stores the sums of one output for a vector of channels from `c` on, or quantizes them.
template <class D>
HWY_INLINE void put(D d, const depthwise_lines& p, std::int64_t output, std::int64_t c, hn::Vec<D> sum) {
  const hn::RebindToSigned<D> words;
  const auto whole = hn::Add(hn::ConvertTo(words, sum), hn::LoadU(words, p.start + c));
  if (p.sums) return hn::StoreU(whole, words, p.sums + output * p.channels + c);
#if CAMEO_SIMD_EMULATED
  HWY_ALIGN std::int32_t all[hn::MaxLanes(d)];
  hn::Store(whole, words, all);
  const code_form form{p.scale + c, p.low, p.high, p.zero};
  sums_to_codes(all, form, std::int64_t(hn::Lanes(d)), p.codes + output * p.channels + c);
#else
  const hn::Rebind<std::uint8_t, D> bytes;
  const auto v = hn::Mul(hn::ConvertTo(d, whole), hn::LoadU(d, p.scale + c));
  const auto inside = hn::Min(hn::Max(v, hn::Set(d, p.low)), hn::Set(d, p.high));
  const auto code = hn::And(hn::Add(hn::NearestInt(inside), hn::Set(words, p.zero)), hn::Set(words, 0xFF));
  hn::StoreU(hn::DemoteTo(bytes, code), bytes, p.codes + output * p.channels + c);
#endif
}

/// Computes outputs [at, at + Outputs) of a vector of channels, for windows without dilation: neighboring outputs share
/// the pixels that are read.
template <int Outputs, int Columns, int Stride, class D>
HWY_NOINLINE void tile(D d, const depthwise_lines& p, std::int64_t at, std::int64_t c) {
  constexpr int seen = (Outputs - 1) * Stride + Columns;
  hn::Vec<D> sums[Outputs];
#pragma GCC unroll 8
  for (int i = 0; i < Outputs; ++i) sums[i] = hn::Zero(d);
  const std::uint8_t* HWY_RESTRICT row = p.x + at * Stride * p.pixel + c;
  const float* HWY_RESTRICT w = reinterpret_cast<const float*>(p.w) + c;
  for (std::int64_t r = 0; r < p.rows; ++r, row += p.row_step) {
    hn::Vec<D> weights[Columns];
#pragma GCC unroll 8
    for (int k = 0; k < Columns; ++k, w += p.channels) weights[k] = hn::LoadU(d, w);
#pragma GCC unroll 32
    for (int q = 0; q < seen; ++q) {
      const hn::Vec<D> x = load(d, row + q * p.pixel);
#pragma GCC unroll 8
      for (int k = 0; k < Columns; ++k)
        if (q >= k && (q - k) % Stride == 0 && (q - k) / Stride < Outputs)
          sums[(q - k) / Stride] = hn::MulAdd(weights[k], x, sums[(q - k) / Stride]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Outputs; ++i) put(d, p, at + i, c, sums[i]);
}

/// Computes one output, for any window.
template <class D>
HWY_NOINLINE void any(D d, const depthwise_lines& p, std::int64_t at, std::int64_t c) {
  hn::Vec<D> sum = hn::Zero(d), other = hn::Zero(d);
  const std::uint8_t* HWY_RESTRICT row = p.x + at * p.stride * p.pixel + c;
  const float* HWY_RESTRICT w = reinterpret_cast<const float*>(p.w) + c;
  const std::int64_t step = p.dilation * p.pixel;
  for (std::int64_t r = 0; r < p.rows; ++r, row += p.row_step) {
    std::int64_t k = 0;
    for (; k + 2 <= p.columns; k += 2, w += 2 * p.channels) {
      sum = hn::MulAdd(hn::LoadU(d, w), load(d, row + k * step), sum);
      other = hn::MulAdd(hn::LoadU(d, w + p.channels), load(d, row + (k + 1) * step), other);
    }
    if (k < p.columns) sum = hn::MulAdd(hn::LoadU(d, w), load(d, row + k * step), sum), w += p.channels;
  }
  put(d, p, at, c, hn::Add(sum, other));
}

/// Computes all outputs of a vector of channels, in tiles; the last tile may overlap the one before.
template <int Columns, int Stride, class D>
void run_tiles(D d, const depthwise_lines& p, std::int64_t c) {
  constexpr int most = 8, few = 4;
  std::int64_t at = 0;
  for (; at + most <= p.outputs; at += most) tile<most, Columns, Stride>(d, p, at, c);
  if (at == p.outputs) return;
  if (p.outputs - at > few && p.outputs >= most) return tile<most, Columns, Stride>(d, p, p.outputs - most, c);
  if (p.outputs - at >= few) tile<few, Columns, Stride>(d, p, at, c), at += few;
  if (p.outputs - at > 1 && p.outputs >= few) return tile<few, Columns, Stride>(d, p, p.outputs - few, c);
  for (; at < p.outputs; ++at) tile<1, Columns, Stride>(d, p, at, c);
}

using widest = hn::CappedTag<float, 16>;

template <class D>
void run_vector(D d, const depthwise_lines& p, std::int64_t c) {
  // Tiles are compiled for the widest vectors and for those of half that size, as images of 8 channels are frequent.
  if constexpr (2 * hn::MaxLanes(d) >= hn::MaxLanes(widest{})) {
    if (p.dilation == 1 && p.columns == 3 && p.stride == 1) return run_tiles<3, 1>(d, p, c);
    if (p.dilation == 1 && p.columns == 3 && p.stride == 2) return run_tiles<3, 2>(d, p, c);
    if (p.dilation == 1 && p.columns == 5 && p.stride == 1) return run_tiles<5, 1>(d, p, c);
    if (p.dilation == 1 && p.columns == 5 && p.stride == 2) return run_tiles<5, 2>(d, p, c);
  }
  for (std::int64_t at = 0; at < p.outputs; ++at) any(d, p, at, c);
}

/// Computes all channels in vectors of D, the last of which may overlap the one before. With fewer channels, smaller
/// vectors are used.
template <class D>
void run_channels(D d, const depthwise_lines& p) {
  const auto lanes = std::int64_t(hn::Lanes(d));
  if (p.channels < lanes) {
    if constexpr (hn::MaxLanes(d) > 1) run_channels(hn::CappedTag<float, hn::MaxLanes(d) / 2>{}, p);
    return;
  }
  for (std::int64_t c = 0; c < p.channels; c += lanes) run_vector(d, p, std::min(c, p.channels - lanes));
}

void run(const depthwise_lines& p) {
  depthwise_lines line = p;
  line.lines = 1;
  for (std::int64_t l = 0; l < p.lines; ++l, line.x += p.x_step) {
    run_channels(widest{}, line);
    if (p.sums) line.sums += p.outputs * p.channels;
    else line.codes += p.outputs * p.channels;
  }
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::depthwise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {
namespace {

bool takes_any_window(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool) { return true; }
std::size_t size_of_floats(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  return std::size_t(channels * rows * columns) * sizeof(float);
}
/// Packs filters as [rows * columns][channels].
void pack_floats(detail::function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
                 std::int64_t columns, std::byte* to) {
  auto* const out = reinterpret_cast<float*>(to);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t t = 0; t < rows * columns; ++t) out[t * channels + c] = float(numbers(c * rows * columns + t));
}
void run_floats(const depthwise_lines& p) { CAMEO_SIMD_BEST(depthwise::run)(p); }

}  // namespace

constinit const depthwise_loops float_depthwise{takes_any_window, size_of_floats, pack_floats, run_floats, false};

const depthwise_loops& depthwise_for(std::int64_t channels, std::int64_t rows, std::int64_t columns,
                                     std::int64_t stride, std::int64_t dilation, bool fit_bytes) {
  for (const depthwise_loops& each : best_integer_loops().depthwise)
    if (each.take(channels, rows, columns, stride, dilation, fit_bytes)) return each;
  return float_depthwise;
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
