#pragma once
#include <cameo/geometry/broadcast.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// How a factor of a matrix product is stored. `transposed`: its matrices are. `rows_first` (transBatchA of
/// FusedMatMul): the first axis is that of the rows, and the axes between it and the last one are the stack.
struct factor_order {
  bool transposed = false, rows_first = false;
};

/// A matrix [rows, columns] in a dense tensor, after it is transposed. The strides are in elements; where sizes are
/// unknown, they are 0.
template <size_kind D>
struct basic_matrix {
  D rows{}, columns{};
  std::int64_t row_stride = 0, column_stride = 0;
};
/// A factor of a matrix product: a stack of matrices.
template <size_kind D>
struct basic_factor : basic_matrix<D> {
  bool is_vector = false;  // the left factor is one row, the right one column
  sizes<D> stack;
  std::int64_t stack_stride = 0;  // between neighbors along the last axis of the stack
};
/// A factor whose sizes are known.
using factor = basic_factor<std::int64_t>;

/// A product of A [..., m, k] and B [..., k, n] with the rules of numpy's matmul: a vector is a matrix of one row (A)
/// or column (B), an axis that Y does not have; the axes before the matrices broadcast to `stack`.
template <size_kind D>
struct basic_matrix_product {
  D m{}, k{}, n{};
  basic_factor<D> a, b;
  sizes<D> stack;
  output_shape<D> y;
};
/// A product whose sizes are known.
using matrix_product = basic_matrix_product<std::int64_t>;

/// Checks the shapes of a matrix product; Y is unknown if one of both is. The error is one of wrong().
template <size_kind D>
constexpr result<basic_matrix_product<D>> matrix_product_of(shape_view<D> a, shape_view<D> b,
                                                            factor_order order_of_a = {}, factor_order order_of_b = {});

/// Gemm: Y [m, n] is the product of A [m, k] and B [k, n], both after they are transposed, and C, which broadcasts to
/// Y. The strides are in elements; those of C are 0 where it repeats, and where it is absent or its sizes are unknown.
template <size_kind D>
struct basic_gemm {
  D m{}, k{}, n{};
  std::int64_t a_row_stride = 0, a_column_stride = 0, b_row_stride = 0, b_column_stride = 0;
  std::int64_t c_row_stride = 0, c_column_stride = 0;

  constexpr sizes<D> y() const { return {m, n}; }
};
/// A Gemm whose sizes are known.
using gemm = basic_gemm<std::int64_t>;

/// Checks a Gemm. A, B and C may be unknown; a C that is absent is unknown, too. The error is one of wrong().
template <size_kind D>
constexpr result<basic_gemm<D>> gemm_of(shape_view<D> a, bool transpose_a, shape_view<D> b, bool transpose_b,
                                        shape_view<D> c = {});

namespace detail {
/// The product of sizes that are numbers. Of dims it is 0: factors have no strides where a model is loaded.
template <size_kind D>
constexpr std::int64_t stride_past(std::span<const D> inner) {
  if constexpr (std::same_as<D, dim>) return 0;
  else return product_of(inner);
}
/// A matrix of `rows` times `columns`, whose elements along a row are neighbors.
template <size_kind D>
constexpr basic_matrix<D> matrix_at(D rows, D columns, std::int64_t row_stride, bool is_transposed) {
  const std::int64_t column_stride = std::same_as<D, std::int64_t>;
  if (is_transposed) return {columns, rows, column_stride, row_stride};
  return {rows, columns, row_stride, column_stride};
}
template <size_kind D>
constexpr basic_matrix<D> matrix_of(shape_view<D> shape, bool is_transposed) {
  return matrix_at(shape[0], shape[1], stride_past(shape.sizes.subspan(1)), is_transposed);
}
/// A vector is one row on the left, and one column on the right.
template <size_kind D>
constexpr void place_factor(basic_factor<D>& made, shape_view<D> shape, bool is_left, factor_order order) {
  const std::size_t rank = shape.rank(), row_axis = order.rows_first || rank < 2 ? 0 : rank - 2;
  basic_matrix<D>& matrix = made;
  made.is_vector = rank == 1;
  if (made.is_vector) return void(matrix = matrix_at(fixed<D>(1), shape[0], 0, !is_left));
  matrix =
      matrix_at(shape[row_axis], shape[rank - 1], stride_past(shape.sizes.subspan(row_axis + 1)), order.transposed);
  made.stack.append(shape.sizes.subspan(order.rows_first, rank - 2));
  made.stack_stride = stride_past(shape.sizes.subspan(order.rows_first + rank - 2));
}
template <size_kind D>
constexpr status check_factor(shape_view<D> shape, std::string_view name) {
  if (!shape || (shape.rank() >= 1 && shape.rank() <= max_rank)) return {};
  return wrong<D>(name, " has shape ", shape.sizes, " of rank ", shape.rank(), ", must have rank 1 to ", max_rank);
}
template <size_kind D>
constexpr status check_inner(D columns, D rows, shape_view<D> a, shape_view<D> b) {
  if (!differ(columns, rows)) return {};
  return wrong<D>("A has shape ", a.sizes, " and B has shape ", b.sizes, ": A has ", columns, " columns, B must have ",
                  columns, " rows, but has ", rows);
}
template <size_kind D>
constexpr status check_matrix(shape_view<D> shape, std::string_view name) {
  if (!shape || shape.rank() == 2) return {};
  return wrong<D>(name, " has shape ", shape.sizes, " of rank ", shape.rank(), ", must have rank 2");
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_matrix_product<D>> matrix_product_of(shape_view<D> a, shape_view<D> b, factor_order order_of_a,
                                                            factor_order order_of_b) {
  return {std::in_place, [&](basic_matrix_product<D>& made) -> status {
            if (status s = detail::check_factor(a, "A"); !s) return s;
            if (status s = detail::check_factor(b, "B"); !s) return s;
            if (a) detail::place_factor(made.a, a, true, order_of_a), made.m = made.a.rows, made.k = made.a.columns;
            if (b) detail::place_factor(made.b, b, false, order_of_b), made.n = made.b.columns;
            if (!a || !b) return {};
            if (status s = detail::check_inner(made.k, made.b.rows, a, b); !s) return s;
            made.k = unified(made.k, made.b.rows);
            made.stack.append(made.a.stack);
            if (!detail::join_shape<D>(made.b.stack, made.stack))
              return wrong<D>("B has shape ", b.sizes, ", must broadcast with A of shape ", a.sizes,
                              " along the axes that are not those of matrices");
            if (status s = check_rank<D>(made.stack.rank() + !made.a.is_vector + !made.b.is_vector); !s) return s;
            made.y.assign(made.stack);
            if (!made.a.is_vector) made.y.push_back(made.m);
            if (!made.b.is_vector) made.y.push_back(made.n);
            return {};
          }};
}

template <size_kind D>
constexpr result<basic_gemm<D>> gemm_of(shape_view<D> a, bool transpose_a, shape_view<D> b, bool transpose_b,
                                        shape_view<D> c) {
  return {std::in_place, [&](basic_gemm<D>& made) -> status {
            if (status s = detail::check_matrix(a, "A"); !s) return s;
            if (status s = detail::check_matrix(b, "B"); !s) return s;
            basic_matrix<D> of_a, of_b;
            if (a) of_a = detail::matrix_of(a, transpose_a);
            if (b) of_b = detail::matrix_of(b, transpose_b);
            if (a && b)
              if (status s = detail::check_inner(of_a.columns, of_b.rows, a, b); !s) return s;
            made.m = of_a.rows, made.k = a ? of_a.columns : of_b.rows, made.n = of_b.columns;
            if (a && b) made.k = unified(made.k, of_b.rows);
            made.a_row_stride = of_a.row_stride, made.a_column_stride = of_a.column_stride;
            made.b_row_stride = of_b.row_stride, made.b_column_stride = of_b.column_stride;
            if (!c) return {};
            const D y[] = {made.m, made.n};
            if (status s = check_broadcast<D>(c, y, "C"); !s) return s;
            if constexpr (std::same_as<D, std::int64_t>) {
              const bool has_columns = c.rank() > 0 && c.sizes.back() != 1, has_rows = c.rank() == 2 && c[0] != 1;
              made.c_row_stride = has_rows ? c[1] : 0, made.c_column_stride = has_columns;
            }
            return {};
          }};
}

// Compiled in geometry/product.cpp, once for loading and once for running.
extern template result<basic_matrix_product<dim>> matrix_product_of(shape_view<dim>, shape_view<dim>, factor_order,
                                                                    factor_order);
extern template result<matrix_product> matrix_product_of(shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                         factor_order, factor_order);
extern template result<basic_gemm<dim>> gemm_of(shape_view<dim>, bool, shape_view<dim>, bool, shape_view<dim>);
extern template result<gemm> gemm_of(shape_view<std::int64_t>, bool, shape_view<std::int64_t>, bool,
                                     shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
