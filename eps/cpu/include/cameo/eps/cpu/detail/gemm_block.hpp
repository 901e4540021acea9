#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

// The packed matrix product that MatMul, Gemm, Conv and other kernels share. T is float or double. B may be float16 or
// bfloat16, which is widened (converted to float) where it is read: panels of constants stay 16 bits wide.
//
// C = f(alpha * A * B + beta * bias + add), C row-major [m, n]. A is packed as panels of `rows` rows, B as panels of
// `columns` columns. A panel is stored step by step of k, [k][rows] or [k][columns], so that the loops read it
// sequentially; the last panel is filled up with zeros. A tile of C, rows x columns, stays in registers while the loop
// runs over a block of k.

/// The rows and columns of the register tile of the instruction set in use; constant for the lifetime of the program.
struct gemm_tile {
  std::int64_t rows, columns;
};
template <class T>
gemm_tile tile_of();

/// The largest number of columns of a tile of any instruction set.
inline constexpr std::int64_t gemm_widest_tile = 32;

/// A matrix in memory: element (i, j) is data[i * row_stride + j * column_stride]. From is the element type, as in
/// number_source; float16 and bfloat16 elements are widened when they are packed, and then one of the strides is 1.
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
  /// The part of the matrix that starts `first` elements further.
  matrix_ref from(std::int64_t first) const { return {elements() + first, row_stride, column_stride}; }
  /// The part of the matrix that starts at element (row, column).
  matrix_ref from(std::int64_t row, std::int64_t column) const {
    return from(row * row_stride + column * column_stride);
  }
};

/// The operations on a tile of C before it is stored for the last time.
template <class T>
struct gemm_epilogue {
  T alpha = T(1), beta = T(1);
  const T* bias = nullptr;  // null: none. A stride of 0 broadcasts; the column stride is 0 or 1
  std::int64_t bias_row_stride = 0, bias_column_stride = 0;
  const T* add = nullptr;  // null: none; the column stride is 1
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

/// The type in which products with elements of type T are computed.
template <class T>
using gemm_number = std::conditional_t<is_narrow_v<T>, float, T>;

/// The number of elements of a packed A [m, k] or B [k, n]; false if it overflows.
template <class T>
[[nodiscard]] bool packed_a_size(std::int64_t m, std::int64_t k, std::size_t& size);
template <class T>
[[nodiscard]] bool packed_b_size(std::int64_t k, std::int64_t n, std::size_t& size);
/// Packs rows [0, m) of A, or columns [0, n) of B, into memory of packed_a_size or packed_b_size elements. If `run` is
/// to be stopped, pack_b skips the rest. pack_b keeps the type of B's elements, or widens them to float.
template <class T, class From>
void pack_a(const matrix_ref<T, From>& a, std::int64_t m, std::int64_t k, T* packed);
template <class T, class From, class To>
void pack_b(const matrix_ref<T, From>& b, std::int64_t k, std::int64_t n, To* packed, const run_context* run = nullptr);

/// The largest number of rows of A that multiply_block processes at a time, so that they stay in the L2 cache; a
/// multiple of the rows of every tile.
inline constexpr std::int64_t gemm_block_rows = 192;
/// A matrix of fewer bytes may be in the L2 cache already; prefetching it would only cost time.
inline constexpr std::int64_t gemm_cached_bytes = 1 << 20;
/// The number of steps of k that are summed, one after the other, before C is updated. It decides how sums are rounded.
/// It depends on k alone, so that an element of C is the same whatever else is computed with it, on any thread.
inline constexpr std::int64_t gemm_block_depth = 512;
constexpr std::int64_t gemm_depth(std::int64_t k) {
  const std::int64_t parts = (k + gemm_block_depth - 1) / gemm_block_depth;
  return k > 0 ? (k + parts - 1) / parts : 1;
}
/// Up to this k, one row of tiles runs over all of k panel by panel, which reads B only once, and in place.
inline constexpr std::int64_t gemm_row_depth = 1 << 14;
/// The number of elements of A that multiply_block packs at a time, for `rows` rows in tiles of `tile_rows`.
constexpr std::int64_t gemm_buffer_size(std::int64_t rows, std::int64_t k, std::int64_t tile_rows) {
  const std::int64_t most = rows < gemm_block_rows ? rows : gemm_block_rows;
  const std::int64_t steps = rows <= tile_rows && k <= gemm_row_depth ? k : gemm_depth(k);
  return (most + tile_rows - 1) / tile_rows * tile_rows * steps;
}

/// The number of panels of B from which on packing A pays. With fewer, A is read in place.
constexpr std::int64_t gemm_few_panels(std::int64_t a_column_stride) { return a_column_stride == 1 ? 6 : 2; }

/// Computes C [m, n] from panels of A and of B, on the calling thread. A may also be unpacked, with strides: blocks of
/// it are then packed into `buffer` (gemm_buffer_size elements), or read in place if `buffer` is null, which suits
/// contiguous rows. Blocks of a float16 or bfloat16 A, packed or not, are widened into `buffer`. float16 or bfloat16
/// panels of B are widened into `wide` (gemm_wide_size elements), one block of k after the other, if more than
/// gemm_narrow_rows rows read them.
template <class T, class B = T, class A = elements_like<B>>
struct gemm_block {
  std::int64_t m, n, k;
  const T* a;  // packed (points to a panel) if both strides are 0
  const B* b;
  T* c;
  std::int64_t c_row_stride;
  gemm_epilogue<T> epilogue;  // for this part of C
  std::int64_t a_row_stride = 0, a_column_stride = 0;
  T *buffer = nullptr, *wide = nullptr;
  [[no_unique_address]] decltype(number_source<T, A>::narrow) narrow_a = {};  // replaces `a`
  const run_context* run = nullptr;  // checked before each panel of B: if the run is to be stopped, the rest is skipped
};
template <class T, class B, class A>
void multiply_block(const gemm_block<T, B, A>&);
/// Up to this number of rows, float16 and bfloat16 panels are widened in registers.
inline constexpr std::int64_t gemm_narrow_rows = 4;
/// The number of elements of gemm_block::wide for `rows` rows and panels of `columns` columns; 0: none are needed.
constexpr std::int64_t gemm_wide_size(std::int64_t rows, std::int64_t k, std::int64_t columns) {
  return rows > gemm_narrow_rows ? gemm_depth(k) * columns : 0;
}

}  // namespace CAMEO_NAMESPACE::eps
