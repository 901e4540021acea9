#include <cameo/eps/cpu/matmul.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "operands/refuse.hpp"
#include "products/constant_factor.hpp"
#include "skeletons/row_list.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// An operand as a batch of matrices.
struct matmul_side {
  std::int64_t rows = 1, columns = 1, row_stride = 0, column_stride = 0;
  extents batch, strides;  // the sizes and strides of the batch axes
  bool vector = false;     // the operand has one axis

  void transpose() { std::swap(rows, columns), std::swap(row_stride, column_stride); }
};

/// Interprets the axes of an operand. `first_last` (transBatchA, transBatchB of FusedMatMul): the first axis is the
/// rows of the matrices, and the axes between it and the last one are the batch.
matmul_side side_of(const extents& shape, bool left, bool transposed, bool first_last) {
  matmul_side side;
  const extents strides = row_major_strides(shape);
  const std::size_t rank = shape.rank();
  if (rank == 1) {
    side.vector = true;
    (left ? side.columns : side.rows) = shape[0];
    (left ? side.column_stride : side.row_stride) = 1;
    return side;
  }
  const std::size_t row_axis = first_last ? 0 : rank - 2, first_batch = first_last ? 1 : 0;
  side.rows = shape[row_axis], side.row_stride = strides[row_axis];
  side.columns = shape[rank - 1], side.column_stride = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    side.batch.push_back(shape[first_batch + i]);
    side.strides.push_back(strides[first_batch + i]);
  }
  if (transposed) side.transpose();
  return side;
}

/// The offset in elements of the operand's matrix for each matrix of the broadcast batch.
result<std::span<const std::int64_t>> offsets_of(run_context& c, const matmul_side& side, const extents& batch,
                                                 std::int64_t count) {
  result<std::span<std::int64_t>> offsets = c.scratch<std::int64_t>(std::size_t(count));
  if (!offsets) return offsets.error();
  const std::size_t missing = batch.rank() - side.batch.rank();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t axis = batch.rank(); axis-- > 0; rest /= batch[axis])
      if (axis >= missing && side.batch[axis - missing] != 1) at += rest % batch[axis] * side.strides[axis - missing];
    (*offsets)[std::size_t(i)] = at;
  }
  return std::span<const std::int64_t>{*offsets};
}

/// If B has no batch, makes A's batch a part of its rows, so that there is one large product instead of many; false if
/// the strides of A don't allow that.
bool fold_batch(matmul_side& a, const matmul_side& b, std::int64_t& m) {
  if (b.batch.count() != 1 || a.batch.rank() == 0) return false;
  std::int64_t step = a.rows * a.row_stride;
  for (std::size_t i = a.batch.rank(); i-- > 0; step *= a.batch[i])
    if (a.batch[i] != 1 && a.strides[i] != step) return false;
  return checked_multiply(a.rows, a.batch.count(), m);
}

}  // namespace

template <class T>
result<matmul<T>> matmul<T>::bind(bind_context& c) {
  const attributes_of<op::microsoft::FusedMatMul> a{c.attributes};
  matmul made{a.alpha, a.transA != 0, a.transB != 0, a.transBatchA != 0, a.transBatchB != 0};
  const value* const b = c.is_constant(1) ? c.inputs[1].constant : nullptr;
  if (!b || b->shape.rank() < 2 || made.batch_b) return made;
  const matmul_side side = side_of(b->shape, false, false, false);
  if (side.batch.count() != 1) return made;
  const std::int64_t k = made.transpose_b ? side.columns : side.rows, n = made.transpose_b ? side.rows : side.columns;
  const std::int64_t rows = known_rows(c.inputs[0], made.transpose_a);
  if (status s = keep_factor<T>(c, made.transpose_b, k, n, rows, made); !s) return s;
  return made;
}

template <class T>
status matmul<T>::run(run_context& c) const {
  const extents &a_shape = c.input(0).shape, &b_shape = c.input(1).shape;
  if (status s = check_rank("A", a_shape, 1, max_rank); !s) return s;
  if (status s = check_rank("B", b_shape, 1, max_rank); !s) return s;
  matmul_side a = side_of(a_shape, true, transpose_a, batch_a), b = side_of(b_shape, false, transpose_b, batch_b);
  extents batch, y_shape;
  if (status s = check_factors(a_shape, b_shape, a.columns, b.rows); !s) return s;
  const bool fit = broadcast(a.batch, b.batch, batch);
  if (status s = check_broadcasts("A", a_shape, b_shape, fit); !s) return s;
  y_shape = batch;
  if (!a.vector) y_shape.push_back(a.rows);
  if (!b.vector) y_shape.push_back(b.columns);
  result<tensor_view<T>> y = c.output<T>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return {};

  gemm_problem<number, T> p{a.rows, b.columns, a.columns, {}, {}, packed_b.data, nullptr};
  p.for_few_rows = packed_b.for_few_rows;
  const std::int64_t count = batch.count();
  if (count > 1 && !fold_batch(a, b, p.m)) {
    result<std::span<const std::int64_t>> a_offsets = offsets_of(c, a, batch, count);
    if (!a_offsets) return a_offsets.error();
    p.a_offsets = *a_offsets;
    if (b.batch.count() != 1) {
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
