// The inner loops of dense convolutions in the NCHWc layout, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "nchwc_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
namespace {

#include "nchwc_vectors-inl.hpp"

/// The most blocks of output channels of a tile: several if a block is one vector and there are 32 registers.
constexpr int most_blocks = vectors == 1 && CAMEO_SIMD_REGISTERS == 32 ? 3 : 1;
/// The most outputs of a tile with `blocks` blocks of channels: as many as there are registers for, beside those for
/// the weights and one factor.
constexpr int most_pixels(int blocks) {
  const int of_a_pixel = blocks * vectors;
  return std::clamp((CAMEO_SIMD_REGISTERS - 1 - of_a_pixel) / of_a_pixel, 2, 16);
}

/// Adds the products of one input channel, its weights times its pixels, to all sums.
template <int Blocks, int Pixels, int Step>
HWY_INLINE void add_channel(const float* HWY_RESTRICT x, const float* HWY_RESTRICT w,
                            vec (&sums)[Blocks * vectors][Pixels]) {
  constexpr int count = Blocks * vectors;
  vec weights[count];
#pragma GCC unroll 16
  for (int j = 0; j < count; ++j) weights[j] = hn::LoadU(d, w + j * lanes);
#pragma GCC unroll 16
  for (int p = 0; p < Pixels; ++p) {
    const vec factor = hn::Set(d, x[p * Step]);
#pragma GCC unroll 16
    for (int j = 0; j < count; ++j) sums[j][p] = hn::MulAdd(weights[j], factor, sums[j][p]);
  }
}

constexpr std::int64_t cache_line = 16;  // floats of a cache line
HWY_INLINE void fetch(const float* from) {
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  __builtin_prefetch(from, 0, 2);
#else
  static_cast<void>(from);
#endif
}

/// Adds the products of all taps of all input channels.
template <int Blocks, int Pixels, int Step>
HWY_INLINE void add_taps(const nchwc_line& p, const float* HWY_RESTRICT x, const float* ahead,
                         vec (&sums)[Blocks * vectors][Pixels]) {
  constexpr int width = Blocks * int(channel_block);
  if constexpr (Step == 1) {  // x consists of planes: each tap of each channel is an entry of `taps`
    const float* HWY_RESTRICT w = p.w + p.w_first * width;
    for (std::int64_t t = 0; t < p.tap_count; ++t, w += width)
      add_channel<Blocks, Pixels, Step>(x + p.taps[t], w, sums);
    return;
  }
  const float* HWY_RESTRICT block_w = p.w;
  for (std::int64_t rest = p.channels; rest > 0; x += p.x_block) {
    const std::int64_t channels = std::min(rest, channel_block);
    const float* HWY_RESTRICT w = block_w + p.w_first * channels * width;
    for (std::int64_t t = 0; t < p.tap_count; ++t) {
      const float* HWY_RESTRICT from = x + p.taps[t];
      for (std::int64_t i = 0; i < p.ahead_lines; ++i, ahead += cache_line) fetch(ahead);
      std::int64_t n = channels;
      for (; n >= 4; n -= 4, from += 4, w += 4 * width) {
        add_channel<Blocks, Pixels, Step>(from, w, sums);
        add_channel<Blocks, Pixels, Step>(from + 1, w + width, sums);
        add_channel<Blocks, Pixels, Step>(from + 2, w + 2 * width, sums);
        add_channel<Blocks, Pixels, Step>(from + 3, w + 3 * width, sums);
      }
      for (; n > 0; --n, ++from, w += width) add_channel<Blocks, Pixels, Step>(from, w, sums);
    }
    block_w += p.w_taps * channels * width;
    rest -= channels;
  }
}

template <int Blocks, int Pixels, int Step>
void run_tile(const nchwc_line& p, const float* HWY_RESTRICT x, float* y, const float* add, const float* ahead) {
  constexpr int count = Blocks * vectors;
  vec sums[count][Pixels];
#pragma GCC unroll 16
  for (int j = 0; j < count; ++j) {
    const vec start = hn::LoadU(d, p.bias + j * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < Pixels; ++i) sums[j][i] = start;
  }
  add_taps<Blocks, Pixels, Step>(p, x, ahead, sums);
  const vec low = hn::Set(d, p.low), high = hn::Set(d, p.high);
#pragma GCC unroll 16
  for (int j = 0; j < count; ++j) {
    const std::int64_t at = j / vectors * p.y_block + j % vectors * lanes;
#pragma GCC unroll 16
    for (int i = 0; i < Pixels; ++i) {
      vec v = sums[j][i];
      if (add) v = hn::Add(v, hn::LoadU(d, add + at + i * channel_block));
      v = bounded(v, low, high);
      if (j / vectors == Blocks - 1 && p.lanes != channel_block) v = cut(v, p.lanes - j % vectors * lanes);
      hn::StoreU(v, d, y + at + i * channel_block);
    }
  }
  if (p.more) activate(*p.more, y, p.y_block, Blocks, Pixels, p.lanes);
}

using tile_function = void (*)(const nchwc_line&, const float*, float*, const float*, const float*);

/// The functions that compute tiles of `Blocks` blocks and 1, 2, ... pixels.
template <int Blocks, int Step>
struct tiles_of {
  template <int... I>
  static constexpr auto table(std::integer_sequence<int, I...>) {
    return std::array<tile_function, sizeof...(I)>{run_tile<Blocks, I + 1, Step>...};
  }
  static constexpr auto functions = table(std::make_integer_sequence<int, most_pixels(Blocks)>());
};

/// Computes a line in as few tiles as possible, of about equal width.
template <int Blocks, int Step>
void run_line(const nchwc_line& p) {
  constexpr std::int64_t most = most_pixels(Blocks);
  const std::int64_t tiles = (p.count + most - 1) / most;
  const std::int64_t ahead_step = p.ahead_lines * cache_line * p.tap_count * ((p.channels + 15) / channel_block);
  const float* ahead = p.ahead;
  std::int64_t at = 0;
  for (std::int64_t t = 0; t < tiles; ++t, ahead += ahead_step) {
    const std::int64_t n = p.count / tiles + (t < p.count % tiles);
    tiles_of<Blocks, Step>::functions[std::size_t(n - 1)](p, p.x + at * Step, p.y + at * channel_block,
                                                          p.add ? p.add + at * channel_block : nullptr, ahead);
    at += n;
  }
}

template <int Step, int Blocks = most_blocks>
void run_any_line(const nchwc_line& p) {
  if constexpr (Blocks > 1)
    if (p.blocks != Blocks) return run_any_line<Step, Blocks - 1>(p);
  run_line<Blocks, Step>(p);
}

void line(const nchwc_line& p) { run_any_line<int(channel_block)>(p); }
void plain_line(const nchwc_line& p) { run_any_line<1>(p); }
constexpr nchwc_line_kernels made_kernels{most_blocks, most_pixels(most_blocks > 1 ? 2 : 1), line, plain_line};

}  // namespace

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

const nchwc_line_kernels& best_nchwc_line_kernels() { return *CAMEO_SIMD_BEST(made_kernels); }

}  // namespace CAMEO_NAMESPACE::eps
#endif
