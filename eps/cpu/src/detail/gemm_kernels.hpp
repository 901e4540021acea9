#pragma once
#include <cstdint>

#include <cameo/core/abi.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// Products with a vector, which memory is slower than: nothing is packed. T is float or double.

/// y[i] = rows[i] . x for `count` rows of n elements, `row_stride` apart.
void dot_with_rows(const float* rows, std::int64_t row_stride, const float* x, std::int64_t count, std::int64_t n,
                   float* y);
void dot_with_rows(const double* rows, std::int64_t row_stride, const double* x, std::int64_t count, std::int64_t n,
                   double* y);
/// y[j] += sum over k of a[k * a_step] * b[k * b_stride + j], j < n.
void add_scaled_rows(const float* a, std::int64_t a_step, const float* b, std::int64_t b_stride, std::int64_t k,
                     std::int64_t n, float* y);
void add_scaled_rows(const double* a, std::int64_t a_step, const double* b, std::int64_t b_stride, std::int64_t k,
                     std::int64_t n, double* y);

}  // namespace cameo::inline CAMEO_ABI::eps
