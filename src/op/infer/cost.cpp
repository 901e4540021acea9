// How many operations nodes take. A multiply-add counts as two. A product's bias and activation do not count: they are
// one operation per element of a result that takes many.
#include <cameo/geometry/einsum.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/cost.hpp>

#include "infer_list.hpp"

#include <algorithm>
#include <array>

namespace CAMEO_NAMESPACE {
namespace cost {
namespace {

double count_of(const value& v) { return double(v.shape.count()); }

/// The operations of a convolution: its weight [maps, channels of a group, window...] is applied at each position of an
/// image [batch, channels, positions...]. (A result in blocks of channels has padding channels that are not maps.)
number convolved(const value* weight, const value* image, std::size_t channel_axis = 1) {
  if (!weight || !image || image->shape.rank() <= channel_axis || image->shape[channel_axis] == 0) return {};
  return 2 * count_of(*image) / double(image->shape[channel_axis]) * count_of(*weight);
}

/// The number of keys: `now`, and those of the past, which are an axis of another input.
double keys(const detail::node_in_run& n, double now, std::size_t past, std::size_t axis) {
  const value* const before = n.input(past);
  return now + (before && before->shape.rank() > axis ? double(before->shape[axis]) : 0.0);
}

}  // namespace

number nothing(const detail::node_in_run&) { return 0.0; }

number each_output(const detail::node_in_run& n) {
  const value* const y = n.output(0);
  return y ? number{count_of(*y)} : number{};
}

number each_input(const detail::node_in_run& n) {
  const value* const x = n.input(0);
  return x ? number{count_of(*x)} : number{};
}

/// MatMul, Gemm and their variants: the sum runs over the inner axis of the first input.
number product(const detail::node_in_run& n) {
  const value *a = n.input(0), *y = n.output(0);
  if (!a || !y || a->shape.rank() == 0) return {};
  const std::size_t rank = a->shape.rank();
  const attributes_of<op::microsoft::FusedMatMul> given{n.attributes};
  const std::size_t row = given.transBatchA != 0 ? 0 : rank - 2;
  return 2 * count_of(*y) * double(a->shape[rank > 1 && given.transA != 0 ? row : rank - 1]);
}

/// The product of the sizes of all labels, for as many multiplications less one as there are operands, and an addition.
number einsum(const detail::node_in_run& n) {
  geometry::einsum_equation equation{attributes_of<op::Einsum>{n.attributes}.equation};
  geometry::einsum labels;
  geometry::einsum_term term;
  for (std::size_t i = 0; i < equation.inputs(); ++i) {
    const value* const x = n.input(i);
    if (!x || !equation.read_input(term) || !labels.add(term, x->shape, i)) return {};
  }
  double all = equation.inputs() == 1 ? 1.0 : double(equation.inputs());
  for (std::size_t label = 0; label < geometry::einsum_labels; ++label)
    if (labels.is_used[label]) all *= double(labels.sizes_of[label]);
  return all;
}

number conv(const detail::node_in_run& n) { return convolved(n.input(1), n.output(0)); }
number qlinear_conv(const detail::node_in_run& n) {
  const attributes_of<op::microsoft::QLinearConv> a{n.attributes};
  const value* const y = n.output(0);
  return convolved(n.input(3), y, a.channels_last != 0 && y && y->shape.rank() > 0 ? y->shape.rank() - 1 : 1);
}

/// The weight of ConvTranspose is [channels, maps of a group, window...].
number conv_transpose(const detail::node_in_run& n) { return convolved(n.input(1), n.input(0)); }

number pool(const detail::node_in_run& n) {
  const auto window = attributes_of<op::AveragePool>{n.attributes}.kernel_shape;
  const value* const y = n.output(0);
  if (!window.given || !y) return {};
  double each = 1;
  for (std::int64_t size : window) each *= double(size);
  return count_of(*y) * each;
}

/// RNN, GRU, LSTM: each step and direction multiplies the input by W and the state by R.
number recurrent(const detail::node_in_run& n) {
  const value *x = n.input(0), *w = n.input(1), *r = n.input(2);
  if (!x || !w || !r || x->shape.rank() != 3) return {};
  return 2 * double(x->shape.count(0, 2)) * (count_of(*w) + count_of(*r));
}

/// Attention: queries times keys, then the weights times values. With rank 4, heads are a separate axis. Masked
/// positions count.
number attention(const detail::node_in_run& n) {
  const value *q = n.input(0), *k = n.input(1), *y = n.output(0);
  if (!q || !k || !y || k->shape.rank() < 3) return {};
  return 2 * (count_of(*q) + count_of(*y)) * keys(n, double(k->shape[k->shape.rank() == 4 ? 2 : 1]), 4, 2);
}

/// com.microsoft's MultiHeadAttention. Keys and values may be packed into the queries.
number multi_head_attention(const detail::node_in_run& n) {
  const value *q = n.input(0), *k = n.input(1), *y = n.output(0);
  if (!q || !y || q->shape.rank() < 2 || (k && k->shape.rank() < 3)) return {};
  const double now = !k ? double(q->shape[1]) : double(k->shape[k->shape.rank() == 4 ? 2 : 1]);
  return 2 * (q->shape.rank() == 3 ? count_of(*q) + count_of(*y) : 2 * count_of(*y)) * keys(n, now, 6, 2);
}

/// com.microsoft's GroupQueryAttention. The present keys are all keys.
number group_query_attention(const detail::node_in_run& n) {
  const value *y = n.output(0), *present = n.output(1);
  if (!y || !present || present->shape.rank() != 4) return {};
  return 4 * count_of(*y) * double(present->shape[2]);
}

/// com.microsoft's Attention. A product first makes queries, keys and values.
number projected_attention(const detail::node_in_run& n) {
  const value *x = n.input(0), *w = n.input(1), *y = n.output(0);
  if (!x || !w || !y || x->shape.rank() != 3 || w->shape.rank() != 2) return {};
  return 2 * count_of(*x) * double(w->shape[1]) + 4 * count_of(*y) * keys(n, double(x->shape[1]), 4, 3);
}

}  // namespace cost

namespace {

/// The rows with a cost function, sorted by id.
constexpr auto cost_rows = [] {
  constexpr std::size_t count = std::size_t(std::count_if(detail::infer_rows.begin(), detail::infer_rows.end(),
                                                          [](const detail::infer_row& r) { return r.cost; }));
  std::array<detail::infer_row, count> kept{};
  std::size_t used = 0;
  for (const detail::infer_row& row : detail::infer_rows)
    if (row.cost) kept[used++] = row;
  detail::sort_rows(kept.data(), kept.size(),
                    [](const detail::infer_row& a, const detail::infer_row& b) { return a.id < b.id; });
  return kept;
}();

/// The cost function that roles imply.
constexpr cost::signature* cost_of(role roles) {
  if (detail::has_role(roles, role::moves) || detail::has_role(roles, role::is_identity) ||
      detail::has_role(roles, role::is_constant))
    return cost::nothing;
  if (detail::has_role(roles, role::is_pointwise) || detail::has_role(roles, role::broadcasts))
    return cost::each_output;
  return detail::has_role(roles, role::reduces) || detail::has_role(roles, role::normalizes) ? cost::each_input
                                                                                             : nullptr;
}

}  // namespace

std::optional<double> detail::operations_of(const op_row& op, const node_in_run& n) {
  const op_row* const standard = detail::find_op(detail::standard_ops(), op.domain, op.name);
  if (standard == &op)
    for (const detail::infer_row& row :
         detail::rows_with(op.id, &detail::infer_row::id, std::span<const detail::infer_row>{cost_rows}))
      return row.cost(n);
  cost::signature* const implied = cost_of(op.roles);
  return implied ? implied(n) : std::nullopt;
}

}  // namespace CAMEO_NAMESPACE
