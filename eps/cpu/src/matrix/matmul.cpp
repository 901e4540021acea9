#include <cameo/eps/cpu/matmul.hpp>
#include <cameo/geometry/product.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "products/constant_factor.hpp"
#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The offset in elements of the operand's matrix for each matrix of the broadcast batch.
result<std::span<const std::int64_t>> offsets_of(run_context& c, const geometry::factor& of, const extents& batch,
                                                 std::int64_t count) {
  result<std::span<std::int64_t>> offsets = c.scratch<std::int64_t>(std::size_t(count));
  if (!offsets) return offsets.error();
  const std::size_t missing = batch.rank() - of.stack.rank();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0, step = of.stack_stride;
    for (std::size_t axis = batch.rank(); axis-- > missing; rest /= batch[axis]) {
      const std::int64_t size = of.stack[axis - missing];
      if (size != 1) at += rest % batch[axis] * step;
      step *= size;
    }
    (*offsets)[std::size_t(i)] = at;
  }
  return std::span<const std::int64_t>{*offsets};
}

/// If B has no batch, makes A's batch a part of its rows, so that there is one large product instead of many; false if
/// the strides of A don't allow that.
bool fold_batch(const geometry::factor& a, std::int64_t b_count, std::int64_t& m) {
  if (b_count != 1 || a.stack.empty()) return false;
  const std::int64_t count = extents{a.stack}.count();
  return (count == 1 || a.stack_stride == a.rows * a.row_stride) && checked_multiply(a.rows, count, m);
}

}  // namespace

template <class T>
result<matmul<T>> matmul<T>::bind(bind_context& c) {
  const attributes_of<op::microsoft::FusedMatMul> a{c.attributes};
  matmul made{a.alpha, a.transA != 0, a.transB != 0, a.transBatchA != 0, a.transBatchB != 0};
  const value* const b = c.is_constant(1) ? c.inputs[1].constant : nullptr;
  if (!b || b->shape.rank() < 2 || made.batch_b) return made;
  const extents& shape = b->shape;
  if (extents{shape.dims().first(shape.rank() - 2)}.count() != 1) return made;
  const std::int64_t last = shape.back(), other = shape[shape.rank() - 2];
  const std::int64_t k = made.transpose_b ? last : other, n = made.transpose_b ? other : last;
  const std::int64_t rows = known_rows(c.inputs[0], made.transpose_a);
  if (status s = keep_factor<T>(c, made.transpose_b, k, n, rows, made); !s) return s;
  return made;
}

template <class T>
status matmul<T>::run(run_context& c) const {
  const auto product = geometry::matrix_product_of<std::int64_t>(c.input(0).shape, c.input(1).shape,
                                                                 {transpose_a, batch_a}, {transpose_b, batch_b});
  if (!product) return product.error();
  const geometry::factor &a = product->a, &b = product->b;
  result<tensor_view<T>> y = c.output<T>(0, product->y);
  if (!y) return y.error();
  if (y->empty()) return {};

  gemm_problem<number, T> p{product->m, product->n, product->k, {}, {}, packed_b.data, nullptr};
  p.for_few_rows = packed_b.for_few_rows;
  const extents batch = product->stack;
  const std::int64_t count = batch.count(), b_count = extents{b.stack}.count();
  if (count > 1 && !fold_batch(a, b_count, p.m)) {
    result<std::span<const std::int64_t>> a_offsets = offsets_of(c, a, batch, count);
    if (!a_offsets) return a_offsets.error();
    p.a_offsets = *a_offsets;
    if (b_count != 1) {
      result<std::span<const std::int64_t>> b_offsets = offsets_of(c, b, batch, count);
      if (!b_offsets) return b_offsets.error();
      p.b_offsets = *b_offsets;
    }
  }
  p.a = {nullptr, a.row_stride, a.column_stride}, p.b = {nullptr, b.row_stride, b.column_stride};
  if constexpr (std::is_integral_v<T>) {
    p.a.data = c.input<T>(0).data(), p.b.data = c.input<T>(1).data(), p.c = y->data();
    return multiply_integers(c, p, [&](T v, std::int64_t, std::int64_t) {
      return alpha == 1 ? v : saturated<T>(double(alpha) * double(v));
    });
  } else {
    result<number*> room = buffer_for_numbers<number>(c, *y);
    if (!room) return room.error();
    p.a = {number_source<number, elements_like<T>>::make(c.input<T>(0).data()), a.row_stride, a.column_stride};
    p.c = *room, p.epilogue.alpha = number(alpha);
    if (!packed_b.data && !bf16_b) p.b.data = c.input<T>(1).data();
    if (status done = multiply_by_factor<T>(c, p, bf16_b); !done) return done;
    store_numbers(c, *room, *y);
    return {};
  }
}

template struct bound_kernels<large_number_elements, matmul>;

}  // namespace CAMEO_NAMESPACE::eps
