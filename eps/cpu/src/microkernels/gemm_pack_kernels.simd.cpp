// Packing with a transposition, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "gemm_pack_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The side of the square blocks that are transposed in registers: as many elements as 128 bits have; elements of 16
/// bits are also transposed in blocks of 16 x 16, if vectors are longer.
#if !CAMEO_SIMD_VECTORS
template <class T>
inline constexpr std::int64_t square = 1;
template <class T>
inline constexpr std::int64_t large_square = 1;
template <std::int64_t, class T>
HWY_INLINE void transpose_square(const T* from, std::int64_t, T* to, std::int64_t) {
  *to = *from;
}
#else
template <class T>
inline constexpr std::int64_t square = 16 / sizeof(T);
template <class T>
inline constexpr std::int64_t large_square = sizeof(T) == 2 && HWY_MAX_BYTES >= 32 ? 16 : square<T>;

template <std::int64_t Size>
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
template <std::int64_t Size>
HWY_INLINE void transpose_square(const double* from, std::int64_t stride, double* to, std::int64_t width) {
  const hn::Full128<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + width);
}

/// Transposes eight rows of 8 or 16 elements within blocks of 128 bits: vector i of `steps` gets element i of each
/// block of all rows.
template <class D, class V>
HWY_INLINE void transpose_eight(D d, const std::uint16_t* from, std::int64_t stride, V (&steps)[8]) {
  const hn::Repartition<std::uint32_t, D> pairs;
  const hn::Repartition<std::uint64_t, D> fours;
  const auto row = [&](int i) HWY_ATTR { return hn::LoadU(d, from + i * stride); };
  // `low` interleaves elements 0 to 3 of two rows, `high` elements 4 to 7.
  const auto low = [&](int i) HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, row(i), row(i + 1))); };
  const auto high = [&](int i) HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, row(i), row(i + 1))); };
  // `join` makes four elements of all rows from those of pairs of rows.
  const auto join = [&](auto a, auto b, auto c, auto e, V* to) HWY_ATTR {
    const auto ab = hn::BitCast(fours, hn::InterleaveLower(pairs, a, b));
    const auto ab2 = hn::BitCast(fours, hn::InterleaveUpper(pairs, a, b));
    const auto ce = hn::BitCast(fours, hn::InterleaveLower(pairs, c, e));
    const auto ce2 = hn::BitCast(fours, hn::InterleaveUpper(pairs, c, e));
    to[0] = hn::BitCast(d, hn::InterleaveLower(fours, ab, ce));
    to[1] = hn::BitCast(d, hn::InterleaveUpper(fours, ab, ce));
    to[2] = hn::BitCast(d, hn::InterleaveLower(fours, ab2, ce2));
    to[3] = hn::BitCast(d, hn::InterleaveUpper(fours, ab2, ce2));
  };
  join(low(0), low(2), low(4), low(6), steps);
  join(high(0), high(2), high(4), high(6), steps + 4);
}
template <std::int64_t Size>
HWY_INLINE void transpose_square(const std::uint16_t* from, std::int64_t stride, std::uint16_t* to,
                                 std::int64_t width) {
  const hn::FixedTag<std::uint16_t, Size> d;
  using vec = hn::Vec<decltype(d)>;
  vec first[8];
  transpose_eight(d, from, stride, first);
#if HWY_MAX_BYTES >= 32
  if constexpr (Size == 16) {
    vec second[8];
    transpose_eight(d, from + 8 * stride, stride, second);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      hn::StoreU(hn::ConcatLowerLower(d, second[i], first[i]), d, to + i * width);
      hn::StoreU(hn::ConcatUpperUpper(d, second[i], first[i]), d, to + (i + 8) * width);
    }
    return;
  }
#endif
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) hn::StoreU(first[i], d, to + i * width);
}
#endif

/// Transposes steps [k0, k1) of rows from `i` on, `Size` rows at a time, and advances `i` past them.
template <std::int64_t Size, class T>
HWY_INLINE void transpose_squares(const transposed_panel<T>& p, std::int64_t k0, std::int64_t k1, std::int64_t& i,
                                  const T*& ahead) {
  constexpr std::int64_t cells = Size * Size, line = 64 / std::int64_t(sizeof(T));
  const std::int64_t whole = k0 + (k1 - k0) / Size * Size;
  for (; i + Size <= p.count; i += Size) {
    const T* const from = p.source + i * p.stride;
    for (std::int64_t k = k0; k < whole; k += Size) {
      for (std::int64_t cell = 0; ahead && cell < cells; cell += line) __builtin_prefetch(ahead + cell, 0, 2);
      if (ahead) ahead += cells;
      transpose_square<Size>(from + k, p.stride, p.panel + k * p.width + i, p.width);
    }
    for (std::int64_t row = 0; row < Size; ++row)
      for (std::int64_t k = whole; k < k1; ++k) p.panel[k * p.width + i + row] = from[row * p.stride + k];
  }
}

template <class T>
void transpose_panel(const transposed_panel<T>& p) {
  // The number of steps of k at a time: what they write stays in the L1 cache. With elements of 16 bits they read two
  // cache lines of each row, which processors load together; with larger elements that would write too much.
  constexpr std::int64_t chunk = sizeof(T) == 2 ? 64 : 16;
  const T* ahead = p.ahead;
  for (std::int64_t k0 = 0; k0 < p.k; k0 += chunk) {
    const std::int64_t k1 = std::min(p.k, k0 + chunk);
    std::int64_t i = 0;
    if (large_square<T> != square<T>) transpose_squares<large_square<T>>(p, k0, k1, i, ahead);
    transpose_squares<square<T>>(p, k0, k1, i, ahead);
    for (; i < p.count; ++i)
      for (std::int64_t k = k0; k < k1; ++k) p.panel[k * p.width + i] = p.source[i * p.stride + k];
  }
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class T>
void pack_transposed(const transposed_panel<T>& p) {
  if constexpr (sizeof(T) == sizeof(std::uint16_t)) {  // float16 and bfloat16 share the code for uint16
    const auto bits = [](const T* from) { return reinterpret_cast<const std::uint16_t*>(from); };
    CAMEO_SIMD_BEST(transpose_panel<std::uint16_t>)
    ({bits(p.source), p.stride, p.count, p.k, reinterpret_cast<std::uint16_t*>(p.panel), p.width, bits(p.ahead)});
  } else {
    CAMEO_SIMD_BEST(transpose_panel<T>)(p);
  }
}

template void pack_transposed(const transposed_panel<float>&);
template void pack_transposed(const transposed_panel<double>&);
template void pack_transposed(const transposed_panel<float16>&);
template void pack_transposed(const transposed_panel<bfloat16>&);

}  // namespace CAMEO_NAMESPACE::eps
#endif
