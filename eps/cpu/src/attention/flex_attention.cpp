#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/flex_attention.hpp>
#include <cameo/op/attributes/preview.hpp>

#include "attention_parts.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_output.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Returns the offsets of each head's matrix, in elements; `group` consecutive heads share a matrix.
result<std::span<const std::int64_t>> starts_of(run_context& c, std::int64_t heads, std::int64_t group,
                                                std::int64_t cells) {
  const result<std::span<std::int64_t>> made = c.scratch<std::int64_t>(std::size_t(heads));
  if (!made) return made.error();
  for (std::int64_t h = 0; h < heads; ++h) (*made)[std::size_t(h)] = h / group * cells;
  return std::span<const std::int64_t>{*made};
}

/// Softmax of n numbers; NaN if all are -infinity, as ONNX's definition gives.
template <class C>
void soften(C* x, std::int64_t n) {
  C most = -std::numeric_limits<C>::infinity(), sum = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, x[i]);
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - most);
  for (std::int64_t i = 0; i < n; ++i) x[i] /= sum;
}

}  // namespace

result<flex_attention> flex_attention::bind(bind_context& c) {
  const attributes_of<op::preview::FlexAttention> a{c.attributes};
  const dtype otherwise = c.inputs[0].type == dtype::f64 ? dtype::f64 : dtype::f32;
  const dtype precision = a.softmax_precision ? dtype(*a.softmax_precision) : otherwise;
  return flex_attention{int(a.score_mod), int(a.prob_mod), precision, a.scale};
}

/// Replaces scores by the output of one of the two subgraphs.
template <class C>
status flex_attention::change(run_context& c, int graph, const extents& shape, std::span<C> scores) const {
  if (graph < 0) return {};
  const result<detail::subplan_frame*> body = c.open(std::size_t(graph));
  if (!body) return body.error();
  result<value> given = c.make(precision, shape);
  if (!given) return given.error();
  store_floats(c, scores.data(), precision, given->data, std::int64_t(scores.size()));
  value changed{};
  const status called = c.call(**body, {&*given, 1}, {&changed, 1});
  c.release(*given);
  if (!called) return called;
  status fits = check_tensor("a result of score_mod or prob_mod", changed, precision);
  if (fits) fits = check_shape("a result of score_mod or prob_mod", changed.shape, shape);
  if (fits) load_floats(changed, 0, scores.data(), std::int64_t(scores.size()));
  c.release(changed);
  return fits;
}

template <class C>
status flex_attention::run_as(run_context& c) const {
  const extents &q = c.input(0).shape, &k = c.input(1).shape, &v = c.input(2).shape;
  if (status s = usable_inputs(c, {0, 1, 2}); !s) return s;
  const std::int64_t length = q[2], keys = k[2], size = q[3], width = v[3];
  const auto y = float_output<C>::make(c, 0, {q[0], q[1], length, width});
  if (!y) return y.error();
  const extents shape{q[0], q[1], length, keys};
  const auto scores = scratch_of<C>(c, shape);
  const auto heads_of = [&](std::size_t i) {
    return wide_heads<C>(c, {c.input(i), geometry::split_heads<std::int64_t>(c.input(i).shape)});
  };
  const auto from_q = heads_of(0), from_k = heads_of(1), from_v = heads_of(2);
  const std::int64_t heads = q[0] * q[1], group = q[1] / std::max<std::int64_t>(1, k[1]);
  const auto at_q = starts_of(c, heads, 1, length * size), at_k = starts_of(c, heads, group, keys * size);
  const auto at_v = starts_of(c, heads, group, keys * width), at_scores = starts_of(c, heads, 1, length * keys);
  if (!scores || !from_q || !from_k || !from_v || !at_q || !at_k || !at_v || !at_scores)
    return status_code::out_of_memory;
  if (heads == 0) return {};
  gemm_problem<C> p{length, keys, size, {from_q->data, size, 1}, {from_k->data, 1, size}, nullptr, *scores};
  p.a_offsets = *at_q, p.b_offsets = *at_k;
  p.epilogue.alpha = scale ? C(*scale) : C(usual_scale(size));
  if (status s = multiply(c, p); !s) return s;
  const std::span<C> all{*scores, std::size_t(shape.count())};
  if (status s = change<C>(c, score_mod, shape, all); !s) return s;
  parallel_each(c, keys == 0 ? 0 : shape.count() / keys, 1 + (1 << 12) / (keys + 1),
                [&](std::int64_t row, std::size_t) { soften(*scores + row * keys, keys); });
  if (c.stopped()) return status_code::canceled;
  if (status s = change<C>(c, prob_mod, shape, all); !s) return s;
  gemm_problem<C> sums{length, width, keys, {*scores, keys, 1}, {from_v->data, width, 1}, nullptr, y->data};
  sums.a_offsets = *at_scores, sums.b_offsets = *at_v;
  if (status s = multiply(c, sums); !s) return s;
  y->store(c);
  return {};
}

status flex_attention::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
