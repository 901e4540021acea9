#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

// The packed matrix product that MatMul, Gemm, Conv and other kernels share. T is float or double. B may have another
// type than the rest, float16 or bfloat16, which is widened where it is read: panels of constants keep its 16 bits.
//
// C = f(alpha * A * B + beta * bias + add), C row-major [m, n]. A is cut into panels of `rows` rows, B into panels of
// `columns` columns, each panel stored k by k ([k][rows], [k][columns]), the last filled up with zeros. A tile of C,
// rows x columns, stays in registers while it runs down a block of k.

/// Rows and columns of the register tile of the instruction set in use; the same for the whole life of the program.
struct gemm_tile {
  std::int64_t rows, columns;
};
template <class T>
gemm_tile tile_of();

/// The most columns of a tile of any instruction set.
inline constexpr std::int64_t gemm_widest_tile = 32;

/// A matrix in memory: element (i, j) lies at data[i * row_stride + j * column_stride]. From: as of number_source;
/// narrow elements are widened where they are packed, and one of the strides is then 1.
template <class T, class From = T>
struct matrix_ref {
  const T* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 1;
  [[no_unique_address]] decltype(number_source<T, From>::narrow) narrow = {};

  matrix_ref() = default;
  matrix_ref(const T* from, std::int64_t row, std::int64_t column)
      : matrix_ref{number_source<T, From>{from}, row, column} {}
  matrix_ref(const number_source<T, From>& from, std::int64_t row, std::int64_t column)
      : data{from.data}, row_stride{row}, column_stride{column}, narrow{from.narrow} {}
  operator matrix_ref<T, any_float>() const
    requires(!std::is_same_v<From, any_float>)
  {
    return {data, row_stride, column_stride};
  }
  number_source<T, From> elements() const { return {data, narrow}; }
  /// The part that starts `first` elements further.
  matrix_ref from(std::int64_t first) const { return {elements() + first, row_stride, column_stride}; }
  /// That which starts at an element.
  matrix_ref from(std::int64_t row, std::int64_t column) const {
    return from(row * row_stride + column * column_stride);
  }
};

/// The operations on a tile of C before it is stored for the last time.
template <class T>
struct gemm_epilogue {
  T alpha = T(1), beta = T(1);
  const T* bias = nullptr;  // null: none. Strides of 0 broadcast; the column's is 0 or 1
  std::int64_t bias_row_stride = 0, bias_column_stride = 0;
  const T* add = nullptr;  // null: none; columns are neighbours
  std::int64_t add_row_stride = 0;
  activation f = {};

  /// The epilogue of the part of C that starts at (row, column).
  gemm_epilogue at(std::int64_t row, std::int64_t column) const {
    gemm_epilogue part = *this;
    if (bias) part.bias += row * bias_row_stride + column * bias_column_stride;
    if (add) part.add += row * add_row_stride + column;
    return part;
  }
};

/// What products with elements of a type are computed in.
template <class T>
using gemm_number = std::conditional_t<is_narrow_v<T>, float, T>;

/// Elements of a packed A [m, k] or B [k, n]; false when that overflows.
template <class T>
[[nodiscard]] bool packed_a_size(std::int64_t m, std::int64_t k, std::size_t& size);
template <class T>
[[nodiscard]] bool packed_b_size(std::int64_t k, std::int64_t n, std::size_t& size);
/// Packs rows [0, m) of A, columns [0, n) of B, into memory of packed_a_size, packed_b_size. If the run (`run`) should
/// end, pack_b skips the rest. It keeps the type of B's elements, or widens them to float.
template <class T, class From>
void pack_a(const matrix_ref<T, From>& a, std::int64_t m, std::int64_t k, T* packed);
template <class T, class From, class To>
void pack_b(const matrix_ref<T, From>& b, std::int64_t k, std::int64_t n, To* packed, const run_context* run = nullptr);

/// The most rows of A that multiply_block processes at a time, so that they stay in the L2 cache; a multiple of every
/// tile's.
inline constexpr std::int64_t gemm_block_rows = 192;
/// A matrix of fewer bytes may lie in the L2 cache: prefetching it would only cost time.
inline constexpr std::int64_t gemm_cached_bytes = 1 << 20;
/// Steps of k that are added up, one after the other, before C is updated. They decide how sums are rounded, and so
/// they depend on k alone: an element of C is the same whatever else is computed with it, and wherever.
inline constexpr std::int64_t gemm_block_depth = 512;
constexpr std::int64_t gemm_depth(std::int64_t k) {
  const std::int64_t parts = (k + gemm_block_depth - 1) / gemm_block_depth;
  return k > 0 ? (k + parts - 1) / parts : 1;
}
/// Up to so many steps, one row of tiles goes through all of k panel by panel, which reads B only once, in place.
inline constexpr std::int64_t gemm_row_depth = 1 << 14;
/// Elements of A that multiply_block packs at a time, of `rows` rows in tiles of `tile_rows`.
constexpr std::int64_t gemm_room(std::int64_t rows, std::int64_t k, std::int64_t tile_rows) {
  const std::int64_t most = rows < gemm_block_rows ? rows : gemm_block_rows;
  const std::int64_t steps = rows <= tile_rows && k <= gemm_row_depth ? k : gemm_depth(k);
  return (most + tile_rows - 1) / tile_rows * tile_rows * steps;
}

/// Of fewer panels of B, A is read as it lies: too few columns come by to repay packing.
constexpr std::int64_t gemm_few_panels(std::int64_t a_column_stride) { return a_column_stride == 1 ? 6 : 2; }

/// C [m, n] from panels of A and of B, on the calling thread. A may also be unpacked, with strides: `room` is then
/// where blocks of it are packed (gemm_room elements), or null to read it in place, which suits rows that are
/// contiguous. Blocks of an A of 16 bits, packed or not, are widened into `room`. Panels of 16 bits are widened into
/// `wide` (gemm_wide_room elements), steps of one after the other's, where more than a few rows read them.
template <class T, class B = T, class A = elements_like<B>>
struct gemm_block {
  std::int64_t m, n, k;
  const T* a;  // packed (starts with a panel) while both strides are 0
  const B* b;
  T* c;
  std::int64_t c_row_stride;
  gemm_epilogue<T> epilogue;  // of this part of C
  std::int64_t a_row_stride = 0, a_column_stride = 0;
  T *room = nullptr, *wide = nullptr;
  [[no_unique_address]] decltype(number_source<T, A>::narrow) narrow_a = {};  // instead of `a`
  const run_context* run = nullptr;  // checked before each panel of B: if the run should end, the rest is skipped
};
template <class T, class B, class A>
void multiply_block(const gemm_block<T, B, A>&);
/// Up to so many rows widen a panel of 16 bits in registers.
inline constexpr std::int64_t gemm_narrow_rows = 4;
/// Elements of gemm_block::wide for `rows` rows and panels of `columns` columns; 0: none are needed.
constexpr std::int64_t gemm_wide_room(std::int64_t rows, std::int64_t k, std::int64_t columns) {
  return rows > gemm_narrow_rows ? gemm_depth(k) * columns : 0;
}

}  // namespace CAMEO_NAMESPACE::eps
