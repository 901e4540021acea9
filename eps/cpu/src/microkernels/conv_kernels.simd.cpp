// The inner loops of convolution, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "conv_kernels.hpp"
#include "epilogue-inl.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {

/// Loads a vector of consecutive elements, or of every second one.
template <class T, int Step>
HWY_INLINE vec<T> load(const T* from) {
  const tag<T> d;
  if constexpr (Step == 1) {
    return hn::LoadU(d, from);
  } else {
    static_assert(Step == 2);
    vec<T> even, odd;
    hn::LoadInterleaved2(d, from, even, odd);
    return even;
  }
}

/// Writes whole vectors: what a piece writes after its end is overwritten by the next piece or row.
template <class T, int Step>
void pack_pieces(const patch_panel<T>& p) {
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  T* to = p.panel;
  for (const std::int64_t tap : p.taps) {
    const T* from = p.source + tap;
    for (std::int64_t c = 0; c < p.channels; ++c, from += p.channel_stride, to += p.columns)
      for (const patch_piece& piece : p.pieces) {
        const T* const first = from + piece.offset;
        if constexpr (Step != 0) {
          for (std::int64_t i = 0; i < piece.count; i += lanes)
            hn::StoreU(load<T, Step>(first + i * Step), d, to + piece.column + i);
        } else {
          for (std::int64_t i = 0; i < piece.count; ++i) to[piece.column + i] = first[i * p.step];
        }
      }
  }
}

template <class T>
void pack(const patch_panel<T>& p) {
  if (p.step == 1) pack_pieces<T, 1>(p);
  else if (p.step == 2) pack_pieces<T, 2>(p);
  else pack_pieces<T, 0>(p);
}

/// Computes `count` outputs of a row, in `Vectors` vectors of which the last may be partly used.
template <class T, int Step, int Vectors>
HWY_INLINE void depthwise_part(const depthwise_plane<T>& p, const T* from, std::int64_t at, std::int64_t count) {
  const tag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  vec<T> sums[Vectors];
#pragma GCC unroll 4
  for (int j = 0; j < Vectors; ++j) sums[j] = hn::Zero(d);
  for (std::size_t t = 0; t < p.taps.size(); ++t) {
    const vec<T> weight = hn::Set(d, p.weights[t]);
    const T* const start = from + p.taps[t];
#pragma GCC unroll 4
    for (int j = 0; j < Vectors; ++j) sums[j] = hn::MulAdd(weight, load<T, Step>(start + j * lanes * Step), sums[j]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < Vectors; ++j) {
    const std::int64_t n = std::min(lanes, count - j * lanes);
    if (n == lanes) {
      hn::StoreU(finish<T>(p.epilogue, 0, at + j * lanes, sums[j]), d, p.y + at + j * lanes);
      continue;
    }
    alignas(64) T some[64 / sizeof(T)] = {};
    gemm_epilogue<T> epilogue = p.epilogue;
    if (epilogue.add) {
      std::copy_n(epilogue.add + at + j * lanes, n, some);
      epilogue.add = some;
    }
    hn::Store(finish<T>(epilogue, 0, 0, sums[j]), d, some);
    std::copy_n(some, n, p.y + at + j * lanes);
  }
}

template <class T, int Step>
void depthwise(const depthwise_plane<T>& p) {
  const std::int64_t lanes = std::int64_t(hn::Lanes(tag<T>()));
  for (std::size_t r = 0; r < p.rows.size(); ++r) {
    const T* const from = p.plane + p.rows[r];
    const std::int64_t row = std::int64_t(r) * p.width;
    std::int64_t x = 0;
    for (; x + 3 * lanes < p.width; x += 4 * lanes)
      depthwise_part<T, Step, 4>(p, from + x * Step, row + x, std::min(4 * lanes, p.width - x));
    for (; x < p.width; x += lanes)
      depthwise_part<T, Step, 1>(p, from + x * Step, row + x, std::min(lanes, p.width - x));
  }
  apply_activation(p.epilogue.f.kind == activation_kind::stored ? p.epilogue.f : activation{}, p.y,
                   std::int64_t(p.rows.size()) * p.width);
}

/// Computes one output at a time, for any step: a vector would read too far after the plane's end.
template <class T>
void depthwise_wide(const depthwise_plane<T>& p) {
  for (std::size_t r = 0; r < p.rows.size(); ++r)
    for (std::int64_t x = 0; x < p.width; ++x) {
      const T* const from = p.plane + p.rows[r] + x * p.step;
      const std::int64_t at = std::int64_t(r) * p.width + x;
      T sum = p.epilogue.bias ? *p.epilogue.bias : T(0);
      for (std::size_t t = 0; t < p.taps.size(); ++t) sum += p.weights[t] * from[p.taps[t]];
      p.y[at] = p.epilogue.add ? sum + p.epilogue.add[at] : sum;
    }
  apply_activation(p.epilogue.f, p.y, std::int64_t(p.rows.size()) * p.width);
}

template <class T>
void depthwise_any(const depthwise_plane<T>& p) {
  if (p.step == 1) depthwise<T, 1>(p);
  else if (p.step == 2) depthwise<T, 2>(p);
  else depthwise_wide(p);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class T>
void pack_patches(const patch_panel<T>& p) {
  CAMEO_SIMD_BEST(pack<T>)(p);
}
template <class T>
void run_depthwise(const depthwise_plane<T>& p) {
  CAMEO_SIMD_BEST(depthwise_any<T>)(p);
}

template void pack_patches(const patch_panel<float>&);
template void pack_patches(const patch_panel<double>&);
template void run_depthwise(const depthwise_plane<float>&);
template void run_depthwise(const depthwise_plane<double>&);

}  // namespace CAMEO_NAMESPACE::eps
#endif
