// The transposition of a matrix of 32-bit elements, compiled once per instruction set.
#include <hwy/highway.h>

#include <cameo/core/abi.hpp>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons {
namespace hn = hwy::HWY_NAMESPACE;

#if CAMEO_SIMD_VECTORS
using four_floats = hn::FixedTag<float, 4>;

/// Transposes 4 x 4 elements: calls f(j, v) with a vector v of element j of each of four rows.
template <class F>
HWY_INLINE void transpose_block(const float* from, std::int64_t stride, const F& f) {
  const four_floats d;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + stride);
  const auto c = hn::LoadU(d, from + 2 * stride), e = hn::LoadU(d, from + 3 * stride);
  const auto ac = hn::InterleaveLower(d, a, c), be = hn::InterleaveLower(d, b, e);
  const auto ac2 = hn::InterleaveUpper(d, a, c), be2 = hn::InterleaveUpper(d, b, e);
  f(0, hn::InterleaveLower(d, ac, be)), f(1, hn::InterleaveUpper(d, ac, be));
  f(2, hn::InterleaveLower(d, ac2, be2)), f(3, hn::InterleaveUpper(d, ac2, be2));
}
#endif

/// Transposes `rows` x `columns` elements: from[i * from_stride + j] belongs to to[j * to_stride + i]. The caller
/// decides what is done with them: it calls four_at(v, to) with vectors of 4 elements, and one_at(from, to) for the
/// rest. The inner loop is along the larger of the two strides, so that few cache lines of that matrix are in use at a
/// time.
template <class Four, class One>
HWY_INLINE void transpose(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
                          float* to, std::int64_t to_stride, [[maybe_unused]] const Four& four_at, const One& one_at) {
  std::int64_t whole_rows = 0, whole_columns = 0;
#if CAMEO_SIMD_VECTORS
  whole_rows = rows - rows % 4, whole_columns = columns - columns % 4;
  const auto block = [&](std::int64_t i, std::int64_t j) HWY_ATTR {
    transpose_block(from + i * from_stride + j, from_stride,
                    [&](int k, auto v) HWY_ATTR { four_at(v, to + (j + k) * to_stride + i); });
  };
  if (to_stride > from_stride) {
    for (std::int64_t j = 0; j < whole_columns; j += 4)
      for (std::int64_t i = 0; i < whole_rows; i += 4) block(i, j);
  } else {
    for (std::int64_t i = 0; i < whole_rows; i += 4)
      for (std::int64_t j = 0; j < whole_columns; j += 4) block(i, j);
  }
#endif
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      one_at(from + i * from_stride + j, to + j * to_stride + i);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons
HWY_AFTER_NAMESPACE();
