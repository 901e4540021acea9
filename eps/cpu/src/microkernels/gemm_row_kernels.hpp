#pragma once
#include <cstdint>

#include <cameo/eps/cpu/detail/narrow_rows.hpp>

namespace CAMEO_NAMESPACE::eps {

// Products with few rows, which memory is slower than: the large matrix is read once, where it lies. T is float or
// double; what memory gives of B may be narrower, B is then widened in registers.

/// y[j] = rows[j] . x for `count` rows of n elements, `row_stride` apart.
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

/// y[i * y_stride + j] = sum over k of a[i * a_row + k * a_step] * b[k * b_stride + j], i < m, j < n. Unless it
/// `starts`, the sum goes on from what y has.
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
/// The same for columns of B that are contiguous: up to tile_of<T>().columns of them, `b_stride` apart, which are
/// turned some steps of k at a time. y has rows of as many elements as a tile has columns; those from n on are of no
/// use. `ahead`: what is read next, of which as many elements as here are asked for.
template <class T, class B = T>
struct turned_sums : row_sums<T, B> {
  const B* ahead;
};
template <class T, class B>
void add_turned_columns(const turned_sums<T, B>&);

}  // namespace CAMEO_NAMESPACE::eps
