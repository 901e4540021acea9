#include <cameo/geometry/product.hpp>

#include "both_kinds.hpp"

namespace geometry_product {

using namespace both_kinds;

constexpr result<matrix_product> run(const known& a, const known& b, factor_order x = {}, factor_order y = {}) {
  return matrix_product_of<std::int64_t>(a, b, x, y);
}
constexpr result<basic_matrix_product<dim>> load(const open& a, const open& b, factor_order x = {},
                                                 factor_order y = {}) {
  return matrix_product_of<dim>(a, b, x, y);
}

static_assert(value_in(run({2, 3}, {3, 4})).y == known{2, 4} && value_in(run({3}, {3})).y == known{});
static_assert(value_in(run({3}, {5, 3, 4})).y == known{5, 4} && value_in(run({5, 2, 3}, {3})).y == known{5, 2});
static_assert(value_in(run({5, 1, 2, 3}, {6, 3, 4})).y == known{5, 6, 2, 4});
static_assert(value_in(run({3, 2}, {4, 3}, {true, false}, {true, false})).y == known{2, 4});
static_assert(value_in(run({3}, {3}, {true, false}, {true, false})).y == known{});  // a vector is not transposed
constexpr matrix_product by_rows = value_in(run({2, 5, 3}, {5, 3, 4}, {false, true}));
static_assert(by_rows.y == known{5, 2, 4} && by_rows.a.row_stride == 15 && by_rows.a.column_stride == 1 &&
              by_rows.a.stack_stride == 3 && by_rows.b.stack_stride == 12);
static_assert(value_in(run({3, 2}, {3, 4}, {true, false})).a.column_stride == 2);
static_assert(value_in(run({3}, {3, 4})).a.is_vector && value_in(run({3}, {3, 4})).a.column_stride == 1 &&
              value_in(run({3}, {3, 4})).m == 1);
static_assert(says(run({2, 3}, {4, 5}),
                   "A has shape [2,3] and B has shape [4,5]: A has 3 columns, B must have 3 rows, "
                   "but has 4"));
static_assert(says(run({}, {4, 5}), "A has shape [] of rank 0, must have rank 1 to 12"));
static_assert(says(run({2, 2, 3}, {3, 3, 4}),
                   "B has shape [3,3,4], must broadcast with A of shape [2,2,3] along the "
                   "axes that are not those of matrices"));
static_assert(value_in(load({symbol, n(2), unknown}, {unknown, n(4)})).y == open{symbol, n(2), n(4)});
static_assert(value_in(load({n(2), unknown}, {n(3), n(4)})).k == n(3));
static_assert(says(load({symbol, n(3)}, {n(4), symbol}),
                   "A has shape [?,3] and B has shape [4,?]: A has 3 columns, B "
                   "must have 3 rows, but has 4"));
static_assert(!value_in(matrix_product_of<dim>(open_shape{}, open{n(2)})).y.is_known);
static_assert(says(matrix_product_of<dim>(open_shape{}, open{}), "B has shape [] of rank 0, must have rank 1 to 12"));

constexpr result<gemm> run_gemm(const known& a, bool x, const known& b, bool y, const known& c) {
  return gemm_of<std::int64_t>(a, x, b, y, c);
}
constexpr gemm of_transposed = value_in(run_gemm({3, 2}, true, {4, 3}, true, {2, 1}));
static_assert(of_transposed.y() == known{2, 4} && of_transposed.k == 3);
static_assert(of_transposed.a_row_stride == 1 && of_transposed.a_column_stride == 2 &&
              of_transposed.b_row_stride == 1 && of_transposed.b_column_stride == 3 &&
              of_transposed.c_row_stride == 1 && of_transposed.c_column_stride == 0);
static_assert(value_in(run_gemm({2, 3}, false, {3, 4}, false, {4})).c_column_stride == 1);
constexpr gemm with_rows = value_in(run_gemm({2, 3}, false, {3, 4}, false, {2, 4}));
static_assert(with_rows.c_row_stride == 4 && with_rows.c_column_stride == 1);
constexpr gemm of_one_row = value_in(run_gemm({2, 3}, false, {3, 4}, false, {1, 4}));
static_assert(of_one_row.c_row_stride == 0 && of_one_row.c_column_stride == 1);
static_assert(value_in(gemm_of<std::int64_t>(known{2, 3}, false, known{3, 4}, false)).c_column_stride == 0);
static_assert(says(run_gemm({2, 3}, false, {3, 4}, false, {3}), "C has shape [3], must broadcast to [2,4]"));
static_assert(says(run_gemm({2, 3}, false, {3, 4}, false, {1, 1, 1}), "C has shape [1,1,1], must broadcast to [2,4]"));
static_assert(says(run_gemm({2, 3, 1}, false, {3, 4}, false, {}), "A has shape [2,3,1] of rank 3, must have rank 2"));
static_assert(says(run_gemm({2, 3}, true, {3, 4}, false, {}),
                   "A has shape [2,3] and B has shape [3,4]: A has 2 columns, B must have 2 rows, but has 3"));
static_assert(value_in(gemm_of<dim>(open_shape{}, false, open{n(3), symbol}, false, open{n(5)})).y() ==
              open{unknown, symbol});

TEST_CASE("geometry: matrix products are checked alike for both kinds of size") {
  std::size_t accepted = 0;
  each_shape(3, 3, [&](const known& a) {
    each_shape(3, 3, [&](const known& b) {
      for (const factor_order order : {factor_order{}, factor_order{true, false}, factor_order{true, true}}) {
        const auto running = run(a, b, order);
        const auto loading = load(as_dims(a), as_dims(b), order);
        if (!agree(running, loading)) continue;
        CHECK(loading->y == as_dims(running->y));
        CHECK(loading->k == n(running->k));
        ++accepted;
      }
      const auto running = run_gemm(a, true, b, false, {2});
      const auto loading = gemm_of<dim>(as_dims(a), true, as_dims(b), false, open{n(2)});
      if (agree(running, loading)) CHECK(loading->y() == as_dims(running->y()));
    });
  });
  CHECK(accepted > 0);
}

}  // namespace geometry_product
