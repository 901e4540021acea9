// The derivative of each operator, as nodes.
#include "transform/rules/gradient.hpp"

#include <algorithm>
#include <numbers>

namespace CAMEO_NAMESPACE::derive {
namespace {

using detail::op_id_of;

value_id one_minus_square_of_y(adjoint& a) { return a.minus(a.number(1), a.square(a.y())); }
value_id over_root_of_one_minus_square(adjoint& a) {
  return a.quotient(a.number(1), a.add<op::Sqrt>({a.minus(a.number(1), a.square(a.x(0)))}));
}
value_id where_positive(adjoint& a, value_id then, value_id otherwise) {
  return a.add<op::Where>({a.add<op::Greater>({a.x(0), a.number(0)}), then, otherwise});
}
/// The density of the normal distribution, and its integral up to x.
value_id bell(adjoint& a) {
  const value_id falls = a.add<op::Exp>({a.times(a.square(a.x(0)), -0.5)});
  return a.times(falls, std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}
value_id below(adjoint& a) {
  const value_id erf = a.add<op::Erf>({a.times(a.x(0), 1 / std::numbers::sqrt2)});
  return a.times(a.sum_of(erf, a.number(1)), 0.5);
}

void of_gelu(adjoint& a) {
  const value_id x = a.x(0);
  if (a.node.attributes<op::Gelu>().approximate == op::approximate_choice::none)
    return a.give(0, a.times(a.dy(), a.sum_of(below(a), a.times(x, bell(a)))));
  // y = x / 2 * (1 + tanh(u)), u = c * (x + 0.044715 * x^3)
  constexpr double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, cube = 0.044715;
  const value_id squared = a.square(x);
  const value_id u = a.times(a.times(x, a.sum_of(a.times(squared, cube), a.number(1))), c);
  const value_id t = a.add<op::Tanh>({u});
  const value_id slope = a.times(a.sum_of(a.times(squared, 3 * cube), a.number(1)), c);
  const value_id inner = a.times(a.times(a.minus(a.number(1), a.square(t)), slope), x);
  a.give(0, a.times(a.dy(), a.times(a.sum_of(a.sum_of(t, a.number(1)), inner), 0.5)));
}

void of_add(adjoint& a) {
  for (std::size_t i = 0; i < a.input_count(); ++i)
    if (a.needs(i)) a.give(i, a.like(a.dy(), i));
}
void of_subtract(adjoint& a) {
  if (a.needs(0)) a.give(0, a.like(a.dy(), 0));
  if (a.needs(1)) a.give(1, a.like(a.add<op::Neg>({a.dy()}), 1));
}
void of_multiply(adjoint& a) {
  if (a.needs(0)) a.give(0, a.like(a.times(a.dy(), a.x(1)), 0));
  if (a.needs(1)) a.give(1, a.like(a.times(a.dy(), a.x(0)), 1));
}
void of_divide(adjoint& a) {
  const value_id part = a.quotient(a.dy(), a.x(1));
  if (a.needs(0)) a.give(0, a.like(part, 0));
  if (a.needs(1)) a.give(1, a.like(a.add<op::Neg>({a.times(part, a.y())}), 1));
}
/// x^0 does not depend on x, so where the base is 0, the logarithm counts as 0.
void of_power(adjoint& a) {
  const value_id zero = a.number(0), x = a.x(0);
  value_id exponent = a.x(1);
  if (a.type(1) != a.type(0)) exponent = a.add<op::Cast>({exponent}, {attribute_of("to", std::int64_t(a.type(0)))});
  if (a.needs(0)) {
    const value_id slope = a.times(exponent, a.add<op::Pow>({x, a.minus(exponent, a.number(1))}));
    const value_id safe = a.add<op::Where>({a.add<op::Equal>({exponent, zero}), zero, slope});
    a.give(0, a.like(a.times(a.dy(), safe), 0));
  }
  if (a.needs(1)) {
    const value_id is_zero = a.add<op::Equal>({x, zero});
    const value_id log = a.add<op::Log>({a.add<op::Where>({is_zero, a.number(1), x})});
    value_id made = a.times(a.dy(), a.times(a.y(), log));
    if (a.type(1) != a.type(0)) made = a.add<op::Cast>({made}, {attribute_of("to", std::int64_t(a.type(1)))});
    a.give(1, a.like(made, 1));
  }
}
void of_mean_of_all(adjoint& a) {
  const value_id part = a.times(a.dy(), 1.0 / double(std::max<std::size_t>(1, a.input_count())));
  for (std::size_t i = 0; i < a.input_count(); ++i)
    if (a.needs(i)) a.give(i, a.like(part, i));
}
/// Max and Min: the gradient goes to the extreme input; several extreme inputs share it equally.
void of_extreme(adjoint& a) {
  std::vector<value_id> is_it;
  value_id count = value_id::none;
  for (std::size_t i = 0; i < a.input_count(); ++i) {
    is_it.push_back(a.add<op::Cast>({a.add<op::Equal>({a.x(i), a.y()})}, {attribute_of("to", std::int64_t(a.type()))}));
    count = count == value_id::none ? is_it.back() : a.sum_of(count, is_it.back());
  }
  const value_id part = a.quotient(a.dy(), count);
  for (std::size_t i = 0; i < a.input_count(); ++i)
    if (a.needs(i)) a.give(i, a.like(a.times(part, is_it[i]), i));
}
void of_where(adjoint& a) {
  if (a.needs(1)) a.give(1, a.like(a.add<op::Where>({a.x(0), a.dy(), a.number(0, a.type(1))}), 1));
  if (a.needs(2)) a.give(2, a.like(a.add<op::Where>({a.x(0), a.number(0, a.type(2)), a.dy()}), 2));
}
void of_clip(adjoint& a) {
  if (a.needs(1) || a.needs(2)) return a.fail("by its bounds");
  a.give(0, a.add<op::Where>({a.add<op::Equal>({a.x(0), a.y()}), a.dy(), a.number(0)}));
}
void of_cast(adjoint& a) { a.give(0, a.add<op::Cast>({a.dy()}, {attribute_of("to", std::int64_t(a.type()))})); }
void of_identity(adjoint& a) { a.give(0, a.dy()); }
void of_reshape(adjoint& a) { a.give(0, a.reshaped_like(a.dy(), a.x(0))); }
void of_expand(adjoint& a) { a.give(0, a.like(a.dy(), 0)); }

// Products

/// A factor of MatMul as matrices: a vector is a row if it is the first factor (number 0), a column if it is the
/// second.
struct matrix_factor {
  adjoint& a;
  std::size_t number, rank;
  bool is_vector = rank == 1;
  value_id matrix = is_vector ? a.unsqueezed(a.x(number), std::int64_t(number)) : a.x(number);

  value_id transposed() const { return a.transposed(matrix, std::max<std::size_t>(rank, 2)); }
  /// Adds a gradient of the matrices with the batch of y, which has so many axes without `dropped` axes of size 1.
  void give(value_id g, std::size_t y_rank, std::size_t dropped) const {
    const dims *const known = a.shape(number), *const y = a.shape_of_y();
    std::optional<dims> own, whole;
    if (known) own = *known;
    if (own && is_vector) own->insert(number == 0 ? own->begin() : own->end(), dim::fixed(1));
    if (own && y && y->size() + dropped == y_rank) {
      whole.emplace(y->begin(), y->begin() + std::ptrdiff_t(y_rank - 2));
      whole->insert(whole->end(), own->end() - 2, own->end());
    }
    if (y_rank > 2) g = a.shrunk(g, whole ? &*whole : nullptr, matrix, own ? &*own : nullptr);
    a.give(number, is_vector ? a.squeezed(g, std::int64_t(number)) : g);
  }
};

void of_matmul(adjoint& a) {
  const std::size_t left = a.rank(0), right = a.rank(1);
  if (left == 0 || right == 0) return;
  const std::size_t rank = std::max({left, right, std::size_t(2)});
  const matrix_factor x{a, 0, left}, w{a, 1, right};
  value_id dy = a.dy();
  if (w.is_vector) dy = a.unsqueezed(dy, std::int64_t(rank) - (x.is_vector ? 2 : 1));
  if (x.is_vector) dy = a.unsqueezed(dy, std::int64_t(rank) - 2);
  const std::size_t dropped = std::size_t(x.is_vector) + std::size_t(w.is_vector);
  if (a.needs(0)) x.give(a.add<op::MatMul>({dy, w.transposed()}), rank, dropped);
  if (a.needs(1)) w.give(a.add<op::MatMul>({x.transposed(), dy}), rank, dropped);
}

void of_gemm(adjoint& a) {
  const auto given = a.node.attributes<op::Gemm>();
  const int turns_a = given.transA != 0, turns_b = given.transB != 0;
  if (a.opset() < 11) return a.fail("below opset 11");
  const auto product = [&](value_id left, int turns_left, value_id right, int turns_right) {
    return a.add<op::Gemm>({left, right}, {attribute_of("transA", turns_left), attribute_of("transB", turns_right),
                                           attribute_of("alpha", given.alpha)});
  };
  const value_id dy = a.dy();
  if (a.needs(0)) a.give(0, turns_a ? product(a.x(1), turns_b, dy, 1) : product(dy, 0, a.x(1), !turns_b));
  if (a.needs(1)) a.give(1, turns_b ? product(dy, 1, a.x(0), turns_a) : product(a.x(0), !turns_a, dy, 0));
  if (a.needs(2)) a.give(2, a.like(given.beta == 1 ? dy : a.times(dy, double(given.beta)), 2));
}

// Along axes

/// The axes in an attribute or input, counted from 0; all axes if there are none.
std::vector<std::int64_t> axes_of(adjoint& a) {
  const auto rank = std::int64_t(a.rank(0));
  std::vector<std::int64_t> axes = a.axes();
  for (std::int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  if (axes.empty() && a.node.attributes<op::ReduceSum>().noop_with_empty_axes == 0)
    for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::sort(axes.begin(), axes.end());
  return axes;
}
/// Broadcasts a value of the reduced shape to the input's shape. It needs axes and rank only if axes were dropped.
value_id spread(adjoint& a, value_id v) {
  if (a.node.attributes<op::ReduceSum>().keepdims == 0 && !a.axes().empty()) v = a.unsqueezed(v, axes_of(a));
  return a.expanded_like(v, a.x(0));
}
/// The number of elements that are reduced to one.
value_id reduced_count(adjoint& a) {
  const attribute to = attribute_of("to", std::int64_t(a.type()));
  const auto count = [&](value_id v) { return a.add<op::Cast>({a.add<op::Size>({v})}, {to}); };
  return a.quotient(count(a.x(0)), count(a.y()));
}

void of_reduce_sum(adjoint& a) { a.give(0, spread(a, a.dy())); }
void of_reduce_mean(adjoint& a) { a.give(0, a.quotient(spread(a, a.dy()), reduced_count(a))); }
void of_reduce_squares(adjoint& a) { a.give(0, a.times(spread(a, a.dy()), a.times(a.x(0), 2))); }
void of_reduce_length(adjoint& a) {
  // At 0 the length has no derivative; 0 is a subgradient.
  const value_id is_zero = a.add<op::Equal>({a.y(), a.number(0)});
  const value_id safe = a.add<op::Where>({is_zero, a.number(1), a.y()});
  a.give(0, a.times(spread(a, a.quotient(a.dy(), safe)), a.x(0)));
}
void of_reduce_log_sum_exp(adjoint& a) {
  a.give(0, a.times(spread(a, a.dy()), a.add<op::Exp>({a.minus(a.x(0), spread(a, a.y()))})));
}
void of_reduce_extreme(adjoint& a) {
  const attribute to = attribute_of("to", std::int64_t(a.type()));
  const value_id is_it = a.add<op::Cast>({a.add<op::Equal>({a.x(0), spread(a, a.y())})}, {to});
  const value_id count = a.sum(is_it, axes_of(a), true);
  a.give(0, a.quotient(a.times(spread(a, a.dy()), is_it), count));
}
void of_global_mean(adjoint& a) { a.give(0, a.quotient(a.expanded_like(a.dy(), a.x(0)), reduced_count(a))); }

/// The axes of a softmax: before version 13, those from `axis` on.
std::vector<std::int64_t> softmax_axes(adjoint& a) {
  const auto rank = std::int64_t(a.rank(0));
  const bool one = a.node.since() >= 13;
  std::int64_t axis = a.node.attributes<op::Softmax>().axis.value_or(one ? -1 : 1);
  if (axis < 0) axis += rank;
  std::vector<std::int64_t> axes{axis};
  for (std::int64_t i = axis + 1; !one && i < rank; ++i) axes.push_back(i);
  return axes;
}
void of_softmax(adjoint& a) {
  const value_id weighted = a.times(a.dy(), a.y());
  a.give(0, a.minus(weighted, a.times(a.y(), a.sum(weighted, softmax_axes(a), true))));
}
void of_log_softmax(adjoint& a) {
  const value_id all = a.sum(a.dy(), softmax_axes(a), true);
  a.give(0, a.minus(a.dy(), a.times(a.add<op::Exp>({a.y()}), all)));
}

void of_layer_norm(adjoint& a) {
  if (a.dy(1) != value_id::none || a.dy(2) != value_id::none) return a.fail("of its mean and deviation");
  const auto rank = std::int64_t(a.rank(0));
  const auto given = a.node.attributes<op::LayerNormalization>();
  const std::int64_t axis = given.axis < 0 ? given.axis + rank : given.axis;
  std::vector<std::int64_t> axes;
  for (std::int64_t i = axis; i < rank; ++i) axes.push_back(i);
  const value_id centered = a.minus(a.x(0), a.mean(a.x(0), axes));
  const value_id epsilon = a.number(double(given.epsilon));
  const value_id deviation = a.add<op::Sqrt>({a.sum_of(a.mean(a.square(centered), axes), epsilon)});
  const value_id normal = a.quotient(centered, deviation), of_normal = a.times(a.dy(), a.x(1));
  if (a.needs(0)) {
    const value_id along = a.times(normal, a.mean(a.times(of_normal, normal), axes));
    a.give(0, a.quotient(a.minus(a.minus(of_normal, a.mean(of_normal, axes)), along), deviation));
  }
  if (a.needs(1)) a.give(1, a.like(a.times(a.dy(), normal), 1));
  if (a.needs(2)) a.give(2, a.like(a.dy(), 2));
}

// Movement of elements

void of_transpose(adjoint& a) {
  const std::size_t rank = a.rank(0);
  const std::span<const std::int64_t> perm = a.node.attributes<op::Transpose>().perm;
  std::vector<std::int64_t> back(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from = perm.size() == rank ? std::size_t(perm[i]) : rank - 1 - i;
    if (from < rank) back[from] = std::int64_t(i);
  }
  a.give(0, a.add<op::Transpose>({a.dy()}, {attribute_of("perm", std::span<const std::int64_t>{back})}));
}

/// An operator that copies elements to other positions. The indices of elements are copied likewise, and give the
/// positions where gradients are added.
template <bool Repeats>
void of_move(adjoint& a) {
  if (Repeats && a.opset() < 16) return a.fail("below opset 16, which has sums by index");
  for (std::size_t i = 1; i < a.input_count(); ++i)
    if (a.needs(i)) return a.fail("by inputs that are indices");
  const value_id flat = a.list(-1), size = a.add<op::Size>({a.x(0)});
  const value_id numbers = a.add<op::Range>({a.number(0, dtype::i64), size, a.number(1, dtype::i64)});
  std::vector<value_id> inputs{a.reshaped_like(numbers, a.x(0))};
  for (std::size_t i = 1; i < a.input_count(); ++i) inputs.push_back(a.x(i));
  const value_id places = a.add<op::Reshape>({a.again(inputs), flat});
  const value_id zeros = a.filled_like(numbers, 0, a.type()), parts = a.add<op::Reshape>({a.dy(), flat});
  const value_id summed = Repeats
                              ? a.add<op::ScatterElements>({zeros, places, parts},
                                                           {attribute_of("axis", 0), attribute_of("reduction", "add")})
                              : a.add<op::ScatterElements>({zeros, places, parts}, {attribute_of("axis", 0)});
  a.give(0, a.reshaped_like(summed, a.x(0)));
}

void of_concat(adjoint& a) {
  if (a.opset() < 10) return a.fail("below opset 10, which has slices between inputs");
  std::int64_t axis = a.node.attributes<op::Concat>().axis.value_or(0);
  const auto rank = std::int64_t(a.rank(0));
  if (axis < 0) axis += rank;
  value_id start = a.list(0);
  for (std::size_t i = 0; i < a.input_count(); ++i) {
    const value_id size = a.add<op::Gather>({a.add<op::Shape>({a.x(i)}), a.list(axis)});
    const value_id end = a.sum_of(start, size);
    if (a.needs(i)) a.give(i, a.add<op::Slice>({a.dy(), start, end, a.list(axis)}));
    start = end;
  }
}
void of_split(adjoint& a) {
  std::vector<value_id> parts;
  for (std::size_t i = 0; i < a.output_count(); ++i) {
    if (a.y(i) == value_id::none) return a.fail("with outputs that are left out");
    parts.push_back(a.dy(i) != value_id::none ? a.dy(i) : a.zeros_like(a.y(i)));
  }
  a.give(0, a.joined(parts, a.node.attributes<op::Split>().axis.value_or(0)));
}
void of_pad(adjoint& a) {
  if (a.node.attributes<op::Pad>().mode != op::pad_mode_choice::constant)
    return a.fail("of a mode that is not constant");
  if (a.opset() < 11) return a.fail("below opset 11, which has pads as an input");
  if (a.needs(2)) return a.fail("by what it fills with");
  const value_id back = a.add<op::Neg>({a.x(1)});
  a.give(0, a.x(3) == value_id::none ? a.add<op::Pad>({a.dy(), back})
                                     : a.add<op::Pad>({a.dy(), back, value_id::none, a.x(3)}));
}

value_id over_absolute(adjoint& a) {
  return a.quotient(a.number(1), a.square(a.sum_of(a.add<op::Abs>({a.x(0)}), a.number(1))));
}

constexpr derivative_row rows[] = {
    {op_id_of<op::Add>, of_add},
    {op_id_of<op::Sub>, of_subtract},
    {op_id_of<op::Mul>, of_multiply},
    {op_id_of<op::Div>, of_divide},
    {op_id_of<op::Pow>, of_power},
    {op_id_of<op::Sum>, of_add},
    {op_id_of<op::Mean>, of_mean_of_all},
    {op_id_of<op::Max>, of_extreme},
    {op_id_of<op::Min>, of_extreme},
    {op_id_of<op::Where>, of_where},
    {op_id_of<op::Clip>, of_clip},
    {op_id_of<op::Cast>, of_cast},
    {op_id_of<op::Identity>, of_identity},
    {op_id_of<op::Neg>, [](adjoint& a) { a.scale(a.number(-1)); }},
    {op_id_of<op::Abs>, [](adjoint& a) { a.scale(a.add<op::Sign>({a.x(0)})); }},
    {op_id_of<op::Exp>, [](adjoint& a) { a.scale(a.y()); }},
    {op_id_of<op::Log>, [](adjoint& a) { a.scale(a.quotient(a.number(1), a.x(0))); }},
    {op_id_of<op::Sqrt>, [](adjoint& a) { a.scale(a.quotient(a.number(0.5), a.y())); }},
    {op_id_of<op::Reciprocal>, [](adjoint& a) { a.scale(a.times(a.square(a.y()), -1)); }},
    {op_id_of<op::Sin>, [](adjoint& a) { a.scale(a.add<op::Cos>({a.x(0)})); }},
    {op_id_of<op::Cos>, [](adjoint& a) { a.scale(a.times(a.add<op::Sin>({a.x(0)}), -1)); }},
    {op_id_of<op::Tan>, [](adjoint& a) { a.scale(a.sum_of(a.square(a.y()), a.number(1))); }},
    {op_id_of<op::Asin>, [](adjoint& a) { a.scale(over_root_of_one_minus_square(a)); }},
    {op_id_of<op::Acos>, [](adjoint& a) { a.scale(a.times(over_root_of_one_minus_square(a), -1)); }},
    {op_id_of<op::Atan>, [](adjoint& a) { a.scale(a.quotient(a.number(1), a.sum_of(a.square(a.x(0)), a.number(1)))); }},
    {op_id_of<op::Sinh>, [](adjoint& a) { a.scale(a.add<op::Cosh>({a.x(0)})); }},
    {op_id_of<op::Cosh>, [](adjoint& a) { a.scale(a.add<op::Sinh>({a.x(0)})); }},
    {op_id_of<op::Asinh>,
     [](adjoint& a) { a.scale(a.quotient(a.number(1), a.add<op::Sqrt>({a.sum_of(a.square(a.x(0)), a.number(1))}))); }},
    {op_id_of<op::Acosh>,
     [](adjoint& a) { a.scale(a.quotient(a.number(1), a.add<op::Sqrt>({a.minus(a.square(a.x(0)), a.number(1))}))); }},
    {op_id_of<op::Atanh>, [](adjoint& a) { a.scale(a.quotient(a.number(1), a.minus(a.number(1), a.square(a.x(0))))); }},
    {op_id_of<op::Tanh>, [](adjoint& a) { a.scale(one_minus_square_of_y(a)); }},
    {op_id_of<op::Sigmoid>, [](adjoint& a) { a.scale(a.times(a.y(), a.minus(a.number(1), a.y()))); }},
    {op_id_of<op::Softplus>, [](adjoint& a) { a.scale(a.add<op::Sigmoid>({a.x(0)})); }},
    {op_id_of<op::Softsign>, [](adjoint& a) { a.scale(over_absolute(a)); }},
    {op_id_of<op::Erf>,
     [](adjoint& a) {
       a.scale(a.times(a.add<op::Exp>({a.times(a.square(a.x(0)), -1)}), 2 * std::numbers::inv_sqrtpi));
     }},
    {op_id_of<op::Relu>, [](adjoint& a) { a.scale(where_positive(a, a.number(1), a.number(0))); }},
    {op_id_of<op::LeakyRelu>,
     [](adjoint& a) {
       a.scale(where_positive(a, a.number(1), a.number(double(a.node.attributes<op::LeakyRelu>().alpha))));
     }},
    {op_id_of<op::Elu>,
     [](adjoint& a) {
       a.scale(where_positive(a, a.number(1), a.sum_of(a.y(), a.number(double(a.node.attributes<op::Elu>().alpha)))));
     }},
    {op_id_of<op::Gelu>, of_gelu},
    {op_id_of<op::MatMul>, of_matmul},
    {op_id_of<op::Gemm>, of_gemm},
    {op_id_of<op::ReduceSum>, of_reduce_sum},
    {op_id_of<op::ReduceMean>, of_reduce_mean},
    {op_id_of<op::ReduceSumSquare>, of_reduce_squares},
    {op_id_of<op::ReduceL2>, of_reduce_length},
    {op_id_of<op::ReduceLogSumExp>, of_reduce_log_sum_exp},
    {op_id_of<op::ReduceMax>, of_reduce_extreme},
    {op_id_of<op::ReduceMin>, of_reduce_extreme},
    {op_id_of<op::GlobalAveragePool>, of_global_mean},
    {op_id_of<op::Softmax>, of_softmax},
    {op_id_of<op::LogSoftmax>, of_log_softmax},
    {op_id_of<op::LayerNormalization>, of_layer_norm},
    {op_id_of<op::Reshape>, of_reshape},
    {op_id_of<op::Flatten>, of_reshape},
    {op_id_of<op::Squeeze>, of_reshape},
    {op_id_of<op::Unsqueeze>, of_reshape},
    {op_id_of<op::Expand>, of_expand},
    {op_id_of<op::Transpose>, of_transpose},
    {op_id_of<op::Slice>, of_move<false>},
    {op_id_of<op::DepthToSpace>, of_move<false>},
    {op_id_of<op::SpaceToDepth>, of_move<false>},
    {op_id_of<op::Gather>, of_move<true>},
    {op_id_of<op::GatherElements>, of_move<true>},
    {op_id_of<op::GatherND>, of_move<true>},
    {op_id_of<op::Tile>, of_move<true>},
    {op_id_of<op::Concat>, of_concat},
    {op_id_of<op::Split>, of_split},
    {op_id_of<op::Pad>, of_pad},
    // Step functions, and operators that only read sizes
    {op_id_of<op::Shape>, nullptr},
    {op_id_of<op::Size>, nullptr},
    {op_id_of<op::Floor>, nullptr},
    {op_id_of<op::Ceil>, nullptr},
    {op_id_of<op::Round>, nullptr},
    {op_id_of<op::Sign>, nullptr},
    {op_id_of<op::Equal>, nullptr},
    {op_id_of<op::Greater>, nullptr},
    {op_id_of<op::GreaterOrEqual>, nullptr},
    {op_id_of<op::Less>, nullptr},
    {op_id_of<op::LessOrEqual>, nullptr},
    {op_id_of<op::ArgMax>, nullptr},
    {op_id_of<op::ArgMin>, nullptr},
    {op_id_of<op::IsNaN>, nullptr},
    {op_id_of<op::IsInf>, nullptr},
    {op_id_of<op::NonZero>, nullptr},
};

}  // namespace

const derivative_row* find_derivative(detail::op_id op) {
  const auto* const found = std::ranges::find(rows, op, &derivative_row::op);
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace CAMEO_NAMESPACE::derive
