#pragma once
#include <cstdint>

#include <cameo/core/abi.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// Products with few rows, which memory is slower than: the large matrix is read once, where it lies. T is float or
// double.

/// y[i * y_stride + j] = rows[j] . x[i] for `count` rows of n elements, `row_stride` apart, and m vectors x, `x_stride`
/// apart.
template <class T>
struct row_dots {
  const T* rows;
  std::int64_t row_stride, count;
  const T* x;
  std::int64_t x_stride, m, n;
  T* y;
  std::int64_t y_stride;
};
void dot_with_rows(const row_dots<float>&);
void dot_with_rows(const row_dots<double>&);

/// y[i * y_stride + j] = sum over k of a[i * a_row + k * a_step] * b[k * b_stride + j], i < m, j < n. From `first` on,
/// a multiple of 8, it adds to what y has.
template <class T>
struct row_sums {
  const T* a;
  std::int64_t a_row, a_step;
  const T* b;
  std::int64_t b_stride, m, k, n;
  T* y;
  std::int64_t y_stride;
  std::int64_t first = 0;
};
void add_scaled_rows(const row_sums<float>&);
void add_scaled_rows(const row_sums<double>&);

}  // namespace cameo::inline CAMEO_ABI::eps
