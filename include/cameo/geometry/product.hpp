#pragma once
#include <cameo/geometry/broadcast.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// How a factor of a matrix product is stored. `transposed`: its matrices are. `rows_first` (transBatchA of
/// FusedMatMul): the first axis is that of the rows, and the axes between it and the last one are the stack.
struct factor_order {
  bool transposed = false, rows_first = false;
};

/// A factor of a matrix product: a stack of matrices [rows, columns], after they are transposed. The strides are in
/// elements, of a dense tensor; where sizes are unknown, they are 0.
template <size_kind D>
struct basic_factor {
  D rows{}, columns{};
  bool is_vector = false;  // the left factor is one row, the right one column
  sizes<D> stack;
  std::int64_t row_stride = 0, column_stride = 0;
  extents stack_strides;
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
/// The axis of a factor's rows and that of its columns, before they are transposed; a vector has one of both.
template <size_kind D>
constexpr basic_factor<D> factor_of(shape_view<D> shape, bool is_left, factor_order order) {
  basic_factor<D> made;
  const std::size_t rank = shape.rank();
  made.rows = made.columns = fixed<D>(1);
  extents strides;
  if constexpr (std::same_as<D, std::int64_t>) strides = row_major_strides(extents{shape.sizes});
  else strides.resize(rank, 0);
  if (rank == 1) {
    made.is_vector = true;
    (is_left ? made.columns : made.rows) = shape[0];
    (is_left ? made.column_stride : made.row_stride) = strides[0];
    return made;
  }
  const std::size_t row_axis = order.rows_first ? 0 : rank - 2, first = order.rows_first ? 1 : 0;
  made.rows = shape[row_axis], made.row_stride = strides[row_axis];
  made.columns = shape[rank - 1], made.column_stride = strides[rank - 1];
  for (std::size_t i = first; i < first + rank - 2; ++i)
    made.stack.push_back(shape[i]), made.stack_strides.push_back(strides[i]);
  if (order.transposed) std::swap(made.rows, made.columns), std::swap(made.row_stride, made.column_stride);
  return made;
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
  basic_matrix_product<D> made;
  if (status s = detail::check_factor(a, "A"); !s) return s;
  if (status s = detail::check_factor(b, "B"); !s) return s;
  if (a) made.a = detail::factor_of(a, true, order_of_a), made.m = made.a.rows, made.k = made.a.columns;
  if (b) made.b = detail::factor_of(b, false, order_of_b), made.n = made.b.columns;
  if (!a || !b) return made;
  if (status s = detail::check_inner(made.k, made.b.rows, a, b); !s) return s;
  made.k = unified(made.k, made.b.rows);
  if (!detail::join_shapes<D>(made.a.stack, made.b.stack, made.stack))
    return wrong<D>("B has shape ", b.sizes, ", must broadcast with A of shape ", a.sizes,
                    " along the axes that are not those of matrices");
  const std::size_t rank = made.stack.rank() + !made.a.is_vector + !made.b.is_vector;
  if (status s = check_rank<D>(rank); !s) return s;
  made.y = output_shape<D>{made.stack};
  if (!made.a.is_vector) made.y.push_back(made.m);
  if (!made.b.is_vector) made.y.push_back(made.n);
  return made;
}

template <size_kind D>
constexpr result<basic_gemm<D>> gemm_of(shape_view<D> a, bool transpose_a, shape_view<D> b, bool transpose_b,
                                        shape_view<D> c) {
  basic_gemm<D> made;
  if (status s = detail::check_matrix(a, "A"); !s) return s;
  if (status s = detail::check_matrix(b, "B"); !s) return s;
  basic_factor<D> of_a, of_b;
  if (a) of_a = detail::factor_of(a, true, {transpose_a, false});
  if (b) of_b = detail::factor_of(b, false, {transpose_b, false});
  if (a && b)
    if (status s = detail::check_inner(of_a.columns, of_b.rows, a, b); !s) return s;
  made.m = of_a.rows, made.k = a ? of_a.columns : of_b.rows, made.n = of_b.columns;
  if (a && b) made.k = unified(made.k, of_b.rows);
  made.a_row_stride = of_a.row_stride, made.a_column_stride = of_a.column_stride;
  made.b_row_stride = of_b.row_stride, made.b_column_stride = of_b.column_stride;
  if (!c) return made;
  const sizes<D> y = made.y();
  if (status s = check_broadcast<D>(c, y, "C"); !s) return s;
  if constexpr (std::same_as<D, std::int64_t>) {
    const extents strides = repeating_strides(extents{c.sizes}, y);
    made.c_row_stride = strides[0], made.c_column_stride = strides[1];
  }
  return made;
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
