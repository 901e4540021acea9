// The transposition of a matrix of floats, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "float_transpose.hpp"
#include "transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons {

void transpose_matrix(const float* from, std::int64_t from_stride, std::int64_t count, std::int64_t columns, float* to,
                      std::int64_t to_stride) {
#if CAMEO_SIMD_VECTORS
  const auto store_four = [](auto v, float* at) { hn::StoreU(v, four_floats{}, at); };
#else
  const int store_four = 0;
#endif
  transpose(from, from_stride, count, columns, to, to_stride, store_four,
            [](const float* one, float* at) { std::memcpy(at, one, sizeof *at); });
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

void transpose_floats(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns, float* to,
                      std::int64_t to_stride) {
  CAMEO_SIMD_BEST(skeletons::transpose_matrix)(from, from_stride, rows, columns, to, to_stride);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
