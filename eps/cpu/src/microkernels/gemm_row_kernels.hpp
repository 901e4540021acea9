#pragma once
#include <cstdint>

#include <cameo/eps/cpu/detail/narrow_rows.hpp>

namespace CAMEO_NAMESPACE::eps {

// Products with few rows, which are limited by reading the large matrix from memory: it is read once, in place. T is
// float or double. The large matrix may be float16 or bfloat16, which is widened in registers.

/// The arguments of dot_with_rows(): y[j] = dot product of row j and x, for `count` rows of n elements, `row_stride`
/// apart.
template <class T, class From = T>
struct row_dots {
  number_source<T, From> rows;
  std::int64_t row_stride, count;
  const T* x;
  std::int64_t n;
  T* y;
};
template <class T, class From>
void dot_with_rows(const row_dots<T, From>&);

/// The arguments of add_scaled_rows(): y[i * y_stride + j] = sum over k of a[i * a_row + k * a_step] * b[k * b_stride +
/// j] for i < m, j < n. The sum is added to y, unless it `starts`.
template <class T, class B = T>
struct row_sums {
  const T* a;
  std::int64_t a_row, a_step;
  const B* b;
  std::int64_t b_stride, m, k, n;
  T* y;
  std::int64_t y_stride;
  bool starts = true;
};
template <class T, class B>
void add_scaled_rows(const row_sums<T, B>&);
/// The arguments of add_transposed_columns(), which is add_scaled_rows() for a B whose columns are contiguous: up to
/// tile_of<T>().columns of them, `b_stride` apart. They are transposed, some steps of k at a time. The rows of y have
/// as many elements as a tile has columns; those from n on are undefined.
template <class T, class B = T>
struct transposed_sums : row_sums<T, B> {
  const B* ahead;  // what is read next, of which n * k elements are prefetched; or null
};
template <class T, class B>
void add_transposed_columns(const transposed_sums<T, B>&);

}  // namespace CAMEO_NAMESPACE::eps
