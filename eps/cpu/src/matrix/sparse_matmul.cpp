#include <cameo/eps/cpu/sparse_matmul.hpp>
#include <cameo/geometry/product.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>
#include <utility>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A sparse matrix whose indices have been checked.
struct sparse_matrix {
  const value* elements;
  const std::int64_t* places;
  bool flat;  // indices are one number per element; else a row and a column
  std::int64_t count, rows, columns;

  std::pair<std::int64_t, std::int64_t> at(std::int64_t i) const {
    if (!flat) return {places[2 * i], places[2 * i + 1]};
    return {places[i] / columns, places[i] % columns};
  }
};

result<sparse_matrix> read_sparse(const value& a) {
  if (a.kind != value_kind::sparse_tensor || a.parts.size() != 2) return bad_input("A must be a sparse tensor");
  if (status s = check_rank("A", a.shape, 2, 2); !s) return s;
  const value &elements = a.parts[0], &places = a.parts[1];
  if (status s = usable_sizes("A", a.shape); !s) return s;
  if (status s = check_rank("the elements of A", elements.shape, 1, 1); !s) return s;
  if (status s = check_type("the list of A", elements.type, a.type); !s) return s;
  if (status s = check_type("the indices of A", places.type, dtype::i64); !s) return s;
  const std::int64_t count = elements.shape[0];
  const bool flat = places.shape == extents{count};
  if (!flat)
    if (status s = check_shape("the indices of A", places.shape, {count, 2}); !s) return s;
  const sparse_matrix made{&elements, static_cast<const std::int64_t*>(places.data), flat, count, a.shape[0],
                           a.shape[1]};
  for (std::int64_t i = 0; i < places.shape.count(); ++i) {
    const std::int64_t limit = flat ? made.rows * made.columns : i % 2 == 0 ? made.rows : made.columns;
    if (status s = check_element("the indices of A", made.places[i], 0, limit - 1); !s) return s;
  }
  return made;
}

/// The type in which elements are added: integers wrap, which is defined for unsigned types only.
template <class T>
using wrapping_number =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

}  // namespace

bool sparse_matmul::accepts(const bind_context& c) {
  return c.inputs.size() == 2 && c.inputs[0].type == c.inputs[1].type;
}
result<sparse_matmul> sparse_matmul::bind(bind_context& c) {
  const attributes_of<op::microsoft::SparseToDenseMatMul> a{c.attributes};
  return sparse_matmul{a.transA != 0, a.transB != 0, a.alpha};
}

status sparse_matmul::run(run_context& c) const {
  const result<sparse_matrix> a = read_sparse(c.input(0));
  if (!a) return a.error();
  const std::int64_t shape[] = {a->rows, a->columns};
  const auto sizes = geometry::gemm_of<std::int64_t>(shape, transpose_a, c.input(1).shape, transpose_b);
  if (!sizes) return sizes.error();
  const std::int64_t m = sizes->m, n = sizes->n, step = sizes->b_row_stride, apart = sizes->b_column_stride;
  const result<value*> y = c.output(0, {m, n});
  if (!y) return y.error();
  elements::call(c.input(1).type, [&]<class T>(std::type_identity<T>) {
    using number = wrapping_number<T>;
    const T *const elements = static_cast<const T*>(a->elements->data), *const from = c.input<T>(1).data();
    T* const to = static_cast<T*>((*y)->data);
    const std::int64_t work = a->count + m;
    parallel_for(c, n, 1 + (1 << 16) / (1 + work), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = 0; row < m; ++row) std::fill(to + row * n + first, to + row * n + last, T{});
      for (std::int64_t i = 0; i < a->count; ++i) {
        auto [row, column] = a->at(i);
        if (transpose_a) std::swap(row, column);
        const auto factor = number(number(T(alpha)) * number(elements[i]));
        for (std::int64_t j = first; j < last; ++j) {
          T& sum = to[row * n + j];
          sum = T(number(sum) + factor * number(from[column * step + j * apart]));
        }
      }
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
