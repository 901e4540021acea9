// Packing with a transposition, once per instruction set.
#include "common/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/gemm_pack_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "gemm_pack_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A square of as many rows as 128 bits have elements: vectors along k become vectors across the panel.
#if !CAMEO_SIMD_VECTORS
template <class T>
inline constexpr std::int64_t square = 1;
template <class T>
HWY_INLINE void transpose_square(const T* from, std::int64_t, T* to, std::int64_t) {
  *to = *from;
}
#else
template <class T>
inline constexpr std::int64_t square = 16 / sizeof(T);

HWY_INLINE void transpose_square(const float* from, std::int64_t stride, float* to, std::int64_t width) {
  const hn::Full128<float> d;
  const hn::Full128<double> pairs;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto a = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1)),
             b = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto u = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1)),
             v = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, u, v)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, u, v)), d, to + 3 * width);
}
HWY_INLINE void transpose_square(const double* from, std::int64_t stride, double* to, std::int64_t width) {
  const hn::Full128<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + width);
}
#endif

template <class T>
void transpose_panel(const transposed_panel<T>& p) {
  constexpr std::int64_t chunk = 16;  // of k: what is written stays in the first cache, what is read comes in long rows
  const T* ahead = p.ahead;
  for (std::int64_t k0 = 0; k0 < p.k; k0 += chunk) {
    const std::int64_t k1 = std::min(p.k, k0 + chunk), whole = k0 + (k1 - k0) / square<T> * square<T>;
    std::int64_t i = 0;
    for (; i + square<T> <= p.count; i += square<T>) {
      const T* const from = p.from + i * p.stride;
      for (std::int64_t k = k0; k < whole; k += square<T>) {
        if (ahead) __builtin_prefetch(ahead, 0, 2), ahead += square<T> * square<T>;
        transpose_square(from + k, p.stride, p.to + k * p.width + i, p.width);
      }
      for (std::int64_t row = 0; row < square<T>; ++row)
        for (std::int64_t k = whole; k < k1; ++k) p.to[k * p.width + i + row] = from[row * p.stride + k];
    }
    for (; i < p.count; ++i)
      for (std::int64_t k = k0; k < k1; ++k) p.to[k * p.width + i] = p.from[i * p.stride + k];
  }
}

void transpose_f32(const transposed_panel<float>& p) { transpose_panel(p); }
void transpose_f64(const transposed_panel<double>& p) { transpose_panel(p); }

}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cameo::inline CAMEO_ABI::eps {

HWY_EXPORT(transpose_f32);
HWY_EXPORT(transpose_f64);

void pack_transposed(const transposed_panel<float>& p) { HWY_DYNAMIC_DISPATCH(transpose_f32)(p); }
void pack_transposed(const transposed_panel<double>& p) { HWY_DYNAMIC_DISPATCH(transpose_f64)(p); }

}  // namespace cameo::inline CAMEO_ABI::eps
#endif
