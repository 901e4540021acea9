// Folds operations that are linear for each channel, before or after a convolution or product with constant weights,
// into the weights. Numbers are computed in double precision and rounded once.
#include <cameo/core/checked.hpp>
#include <cameo/core/elements.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/algebra.hpp>
#include <cameo/transform/rules/standard.hpp>

#include "graph/messages.hpp"
#include "transform/rules/look.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

/// Weights with other readers are copied up to this size in bytes.
constexpr std::size_t most_copied = std::size_t{4} << 20;

bool is_real(const value* v) {
  return v && v->kind == value_kind::tensor && v->memory == 0 && (v->type == dtype::f32 || v->type == dtype::f64);
}
double real_at(const value& v, std::int64_t i) {
  return v.type == dtype::f32 ? detail::element_at<float>(v, std::size_t(i))
                              : detail::element_at<double>(v, std::size_t(i));
}

/// Element i of a constant, or its only element.
double repeated_at(const value& v, std::int64_t i) { return real_at(v, v.shape.count() == 1 ? 0 : i); }

/// A constant whose elements are f(i); `none` when one of them is not finite.
template <class F>
value_id reals(edit& e, std::string_view stem, dtype type, const extents& shape, F f) {
  const auto filled = [&]<class T>(T) -> value_id {
    std::vector<T> made(std::size_t(shape.count()));
    for (std::size_t i = 0; i < made.size(); ++i)
      if (made[i] = T(f(std::int64_t(i))); !std::isfinite(made[i])) return value_id::none;
    return e.constant(stem, value::tensor<T>(shape, made));
  };
  return type == dtype::f32 ? filled(float{}) : filled(double{});
}

/// scale * x + shift for each channel of x.
struct affine {
  std::vector<double> scale, shift;
  explicit affine(std::size_t channels) : scale(channels, 1.0), shift(channels, 0.0) {}
  bool scales() const {
    return std::any_of(scale.begin(), scale.end(), [](double s) { return s != 1.0; });
  }
  bool shifts() const {
    return std::any_of(shift.begin(), shift.end(), [](double s) { return s != 0.0; });
  }
};

/// The channel axis of a value.
struct channels_of {
  std::size_t rank, axis, count;
};

/// The numbers, one per channel, by which a constant changes a value with the channels `to`; std::nullopt if its
/// numbers differ along other axes, or if broadcasting it would make the result larger than the value.
std::optional<std::vector<double>> per_channel(const value* c, const channels_of& to) {
  if (!is_real(c) || c->shape.rank() > to.rank || c->shape.count() == 0) return {};
  const std::size_t missing = to.rank - c->shape.rank();
  for (std::size_t i = 0; i < c->shape.rank(); ++i)
    if (c->shape[i] != 1 && (i + missing != to.axis || c->shape[i] != std::int64_t(to.count))) return {};
  std::vector<double> numbers(to.count);
  for (std::size_t i = 0; i < to.count; ++i) numbers[i] = repeated_at(*c, std::int64_t(i));
  return numbers;
}

std::optional<affine> affine_of_normalization(const rewriter& r, const node_view& n, const channels_of& to) {
  const auto a = n.attributes<op::BatchNormalization>();
  if (to.axis != 1 || n.since() < 7 || a.training_mode != 0 || a.spatial != 1) return {};
  if (look::has_further_outputs(n)) return {};
  const value* statistics[4];
  for (std::size_t i = 0; i < 4; ++i) {
    statistics[i] = r.constant(n.input(i + 1));
    if (!is_real(statistics[i]) || statistics[i]->type != n.input(0).element() ||
        statistics[i]->shape != extents{std::int64_t(to.count)})
      return {};
  }
  affine made{to.count};
  for (std::size_t c = 0; c < to.count; ++c) {
    const auto at = [&](std::size_t which) { return real_at(*statistics[which], std::int64_t(c)); };
    made.scale[c] = at(0) / std::sqrt(at(3) + double(a.epsilon));
    made.shift[c] = at(1) - at(2) * made.scale[c];
    if (!std::isfinite(made.scale[c]) || !std::isfinite(made.shift[c])) return {};
  }
  return made;
}

/// The affine function of `x` that a node computes, if it is the same in every run and for each channel.
std::optional<affine> affine_of(const rewriter& r, const node_view& n, const value_view& x, const channels_of& to) {
  if (n.has_op<op::BatchNormalization>()) {
    if (n.input(0) != x) return {};
    return affine_of_normalization(r, n, to);
  }
  if (n.since() < 7 || n.input_count() != 2) return {};
  const bool first = n.input(0) == x;
  const value* const c = r.constant(look::other_input(n, x));
  if (!is_real(c) || c->type != x.element() || (!first && n.has_op<op::Sub, op::Div>())) return {};
  const std::optional<std::vector<double>> numbers = per_channel(c, to);
  if (!numbers) return {};
  affine made{to.count};
  for (std::size_t i = 0; i < to.count; ++i) {
    const double number = (*numbers)[i];
    if (!std::isfinite(number)) return {};
    if (n.has_op<op::Add>()) made.shift[i] = number;
    else if (n.has_op<op::Sub>()) made.shift[i] = -number;
    else if (n.has_op<op::Mul>()) made.scale[i] = number;
    else if (n.has_op<op::Div>() && number != 0) made.scale[i] = 1 / number;
    else return {};
  }
  return made;
}

/// A convolution or matrix product, and the channels of its output.
class weighted {
 public:
  explicit weighted(const rewriter& r, const node_view& n) : r_{r}, n_{n}, weight_{n.input(1)} {
    const std::vector<dim>*const x = r.shape(n.input(0)), *const w = r.shape(weight_);
    if (!x || !w || w->size() < 2) return;
    std::size_t axis = 1, rank = x->size();
    dim count;
    if (is_convolution()) {
      if (rank != w->size() || rank < 3) return;
      const std::int64_t group = n.attributes<op::Conv>().group;
      count = n.has_op<op::Conv>() ? (*w)[0] : (*w)[1];
      if (n.has_op<op::ConvTranspose>()) {
        if (group < 1 || !(*w)[0].known() || (*w)[0].size % group != 0 || !count.known()) return;
        if (!checked_multiply(count.size, group, count.size)) return;
      }
    } else if (n.has_op<op::Gemm>()) {
      count = n.attributes<op::Gemm>().transB ? (*w)[0] : (*w)[1];
    } else {
      rank = std::max(rank, w->size());
      axis = rank - 1;
      count = w->back();
      if (x->size() < 2) return;
    }
    if (!count.known() || count.size < 1 || count.size > std::int64_t{1} << 24) return;
    channels = {rank, axis, std::size_t(count.size)};
  }
  explicit operator bool() const { return channels.count > 0; }
  bool is_convolution() const { return n_.has_role(role::convolves); }
  bool is_product_of_matrices() const { return n_.has_op<op::MatMul>() && channels.rank == 2; }

  const value* weights() const {
    const value* const w = r_.constant(weight_);
    return is_real(w) && (weight_.sole_use() || w->bytes() <= most_copied) ? w : nullptr;
  }
  /// The bias, if there is one. Sets `fine` to false unless it is a constant with one number per channel.
  std::optional<std::vector<double>> bias(bool& fine) const {
    const value_view b = n_.has_op<op::MatMul>() ? value_view{} : n_.input(2);
    fine = true;
    if (!b) return {};
    const channels_of flat{1, 0, channels.count};
    std::optional<std::vector<double>> found = per_channel(r_.constant(b), n_.has_op<op::Gemm>() ? channels : flat);
    fine = found.has_value();
    if (found)
      for (double& each : *found) each *= double(n_.attributes<op::Gemm>().beta);
    return found;
  }
  /// Consecutive weights of one channel, and the channel of the n-th such row.
  struct rows {
    std::int64_t length, period, inputs_each;  // channel: n % period, plus one period per `inputs_each` inputs
    std::size_t channel(std::int64_t n) const { return std::size_t(n / period / inputs_each * period + n % period); }
  };
  rows rows_of(const extents& w) const {
    constexpr std::int64_t never = std::int64_t{1} << 40;
    if (n_.has_op<op::Conv>()) return {w.count() / w[0], w[0], never};
    if (n_.attributes<op::Gemm>().transB) return {w[1], w[0], never};
    if (!n_.has_op<op::ConvTranspose>()) return {1, w.back(), never};
    return {w.count(2, w.rank()), w[1], w[0] / n_.attributes<op::ConvTranspose>().group};
  }
  channels_of channels{0, 0, 0};

 private:
  const rewriter& r_;
  node_view n_;
  value_view weight_;
};

using namespace pattern;

/// Weights of this type multiplied by the scales of their channels; `none` if there are no such weights to change.
value_id scaled(edit& e, const weighted& w, const value_view& old_weights, dtype type, const affine& a) {
  const value* const old = w.weights();
  if (!old || old->type != type) return value_id::none;
  const weighted::rows rows = w.rows_of(old->shape);
  std::int64_t left = 0, row = 0;
  double scale = 0;
  return reals(e, old_weights.name(), type, old->shape, [&](std::int64_t i) {  // elements are computed in order
    if (left-- == 0) left = rows.length - 1, scale = a.scale[rows.channel(row++)];
    return real_at(*old, i) * scale;
  });
}

/// A copy of n1 with the root's operation folded into its weights and bias.
value_id folded(const match_result& m, edit& e) {
  const rewriter& r = *m.in;
  const node_view& to = n1.get(m);
  const weighted w{r, to};
  if (!w) return value_id::none;
  const std::optional<affine> a = affine_of(r, m.root, to.output(0), w.channels);
  if (!a || (to.has_op<op::Gemm>() && to.since() < 7)) return value_id::none;
  bool fine = false;
  const std::optional<std::vector<double>> bias = w.bias(fine);
  const bool needs_bias = bias || a->shifts();
  if (!fine || (to.has_op<op::MatMul>() && needs_bias && !w.is_product_of_matrices())) return value_id::none;
  e.follow(to);
  const dtype type = to.output(0).element();
  std::vector<value_id> inputs{to.input(0).id(), to.input(1).id()};
  if (a->scales()) inputs[1] = scaled(e, w, to.input(1), type, *a);
  if (inputs[1] == value_id::none) return value_id::none;
  if (needs_bias) {
    const std::string_view stem = to.input(2) ? to.input(2).name() : to.output(0).name();
    inputs.push_back(reals(e, stem, type, extents{std::int64_t(w.channels.count)}, [&](std::int64_t i) {
      return (bias ? (*bias)[std::size_t(i)] : 0.0) * a->scale[std::size_t(i)] + a->shift[std::size_t(i)];
    }));
    if (inputs[2] == value_id::none) return value_id::none;
  }
  std::vector<attribute> attributes{to.raw().attributes.begin(), to.raw().attributes.end()};
  std::erase_if(attributes, [](const attribute& each) { return each.name == "beta"; });
  const bool is_gemm = to.has_op<op::MatMul>() && needs_bias;
  return e.add(op::Gemm::domain, is_gemm ? op::Gemm::name : to.op_type(), inputs, attributes);
}

struct gemm_of_matmul {  // a MatMul that gets a bias becomes a Gemm
  static constexpr made_op names[] = {{op::Gemm::domain, op::Gemm::name, detail::op_id_of<op::MatMul>}};
};
/// A rule that folds `root`, a node that reads the output of the convolution or product n1, into the weights and bias
/// of a copy of n1.
template <class Root>
constexpr auto into_weights(const char* called, Root root) {
  return rule{called, root, computed<folded, gemm_of_matmul>};
}
constexpr auto convolution = name(n1, sole_use(match<op::Conv, op::ConvTranspose>(others)));
constexpr auto product_of_matrices = name(n1, sole_use(match<op::Gemm, op::MatMul>(others)));
constexpr auto batch_norm_into_conv = into_weights("ConvBNFusion", match<op::BatchNormalization>(convolution, others));
constexpr auto factor_into_conv =
    into_weights("ConvMulFusion", any_order(match<op::Mul, op::Div>(convolution, constant{c})));
constexpr auto sum_into_conv =
    into_weights("ConvAddFusion", any_order(match<op::Add, op::Sub>(convolution, constant{c})));
constexpr auto batch_norm_into_product =
    into_weights("MatMul_BatchNormalization_Fusion", match<op::BatchNormalization>(product_of_matrices, others));
constexpr auto factor_into_product =
    into_weights("ConstantScaleFusion", any_order(match<op::Mul, op::Div>(product_of_matrices, constant{c})));
constexpr auto sum_into_gemm = into_weights(
    "GemmSumFusion", any_order(match<op::Add, op::Sub>(name(n1, sole_use(match<op::Gemm>(others))), constant{c})));

/// Multiplies weights by a scalar factor of the input of a convolution or product, such as the 1/255 of pixels.
value_id scaled_weights(const match_result& m, edit& e) {
  const weighted weights{*m.in, m.root};
  const value* const old = weights ? weights.weights() : nullptr;
  if (!old || old->type != x.get(m).element()) return value_id::none;
  return reals(e, w.get(m).name(), old->type, old->shape, [&](std::int64_t i) { return real_at(*old, i) * s0.get(m); });
}
/// True for graph inputs and moved elements only: after arithmetic, a factor is probably part of something that a later
/// fusion needs (such as the half of a Gelu).
bool may_scale(const match_result&, const value_view& v) {
  const node_view n = v.producer();
  return !n || n.has_role(role::moves) || n.has_op<op::Cast, op::Concat>();
}
constexpr rule factor_before{
    "ConstantScaleFusion",
    name(n0, match<op::Conv, op::ConvTranspose, op::Gemm, op::MatMul>(product(s0, x), w, others)),
    again(n0, x, computed<scaled_weights>), when(check<look::is_factor>(s0), check<may_scale>(x))};

bool is_matrix(const match_result& m, const value_view& v) { return look::has_rank(*m.in, v, 2) && look::is_float(v); }

/// True if Gemm may add `c` to a product: a constant, or the same for every row, that does not make the result larger.
bool is_bias_of(const match_result& m, const value_view& product, const value_view& c) {
  const std::vector<dim>*const p = m.in->shape(product), *const s = m.in->shape(c);
  if (!p || p->size() != 2 || !s || s->size() > 2) return false;
  bool is_row = true;
  for (std::size_t i = 0; i < s->size(); ++i) {
    const dim& d = (*s)[s->size() - 1 - i];
    const bool is_one = d.known() && d.size == 1;
    if (!is_one && !d.same((*p)[1 - i])) return false;
    is_row = is_row && (i == 0 || is_one);
  }
  return is_row || m.in->constant(c);
}
/// True if `c` is a bias of the root's other input, a product.
bool is_bias(const match_result& m, const value_view& c) {
  return m.root.since() >= 7 && m.root.input(0) != m.root.input(1) && is_bias_of(m, look::other_input(m.root, c), c);
}

constexpr rule matmul_add{"MatMulAddFusion", any_order(match<op::Add>(sole_use(match<op::MatMul>(x, y)), c)),
                          make<op::Gemm>(x, y, c), when(check<is_matrix>(x), check<is_matrix>(y), check<is_bias>(c))};
constexpr rule gemm_sum{
    "GemmSumFusion", any_order(match<op::Add, op::Sum>(name(n0, sole_use(match<op::Gemm>(x, y))), c)),
    make<op::Gemm>(x, y, c).copy_all(n0).attr<"beta">(1.0f), when(check<is_matrix>(x), check<is_bias>(c))};

/// The rules below remove a Transpose of an operand of Gemm and invert the flag transA or transB instead.
bool swaps_axes(const match_result& m, const node_view& transpose) {
  const std::span<const std::int64_t> perm = transpose.attributes<op::Transpose>().perm;
  return look::has_rank(*m.in, transpose.input(0), 2) && (perm.empty() || perm[0] != 0);
}
constexpr rule gemm_transposed_left{
    "GemmTransposeFusion", name(n0, match<op::Gemm>(name(n1, match<op::Transpose>(x)), others)),
    again(n0, x).attr<"transA", look::opposite<&look::product_attributes::transA>>(), when(check<swaps_axes>(n1))};
constexpr rule gemm_transposed_right{
    "GemmTransposeFusion", name(n0, match<op::Gemm>(x, name(n1, match<op::Transpose>(y)), others)),
    again(n0, x, y).attr<"transB", look::opposite<&look::product_attributes::transB>>(), when(check<swaps_axes>(n1))};

/// The pads of a Pad that adds zeros around images, along spatial axes only; std::nullopt for other Pads.
std::optional<std::vector<std::int64_t>> zeros_of(const rewriter& r, const node_view& pad, std::size_t rank) {
  const auto a = pad.attributes<op::Pad>();
  if (pad.since() < 2 || a.mode != op::pad_mode_choice::constant) return {};
  if (pad.since() < 11 && a.value != 0.0f) return {};
  if (pad.since() >= 11 && (pad.input(3) || (pad.input(2) && look::number_in(r, pad.input(2)) != 0.0))) return {};
  const std::optional<std::vector<std::int64_t>> pads = look::pads_of(r, pad);
  constexpr std::int64_t most = 1 << 20;
  if (!pads || pads->size() != 2 * rank) return {};
  for (std::int64_t each : *pads)
    if (each < 0 || each > most) return {};
  for (std::size_t channel : {std::size_t{0}, std::size_t{1}, rank, rank + 1})
    if ((*pads)[channel] != 0) return {};
  return pads;
}
/// Adds the pads of the Pad to those of the convolution.
bool pads_of_both(const match_result& m, attribute& made) {
  using auto_pad = op::auto_pad_choice;
  const auto a = n0.get(m).attributes<op::Conv>();
  const std::vector<dim>* const shape = m.in->shape(x.get(m));
  if (!shape || shape->size() < 3 || (a.auto_pad != auto_pad::notset && a.auto_pad != auto_pad::valid)) return false;
  const std::size_t rank = shape->size(), axes = rank - 2;
  const std::optional<std::vector<std::int64_t>> zeros = zeros_of(*m.in, n1.get(m), rank);
  const std::span<const std::int64_t> own =
      a.auto_pad == auto_pad::valid ? std::span<const std::int64_t>{} : std::span{a.pads};
  if (!zeros || (!own.empty() && own.size() != 2 * axes)) return false;
  std::vector<std::int64_t> both;
  for (std::size_t end : {std::size_t{0}, std::size_t{1}})
    for (std::size_t i = 0; i < axes; ++i) {
      both.push_back((*zeros)[end * rank + 2 + i]);
      if (!own.empty() && !checked_add(both.back(), own[end * axes + i], both.back())) return false;
    }
  made = attribute_of({}, or_throw(m.in->owner().memory.copy(std::span<const std::int64_t>{both})));
  return true;
}
/// A Pad that adds zeros around images becomes pads of the convolution.
constexpr rule pad_into_conv{"Pad_Fusion",
                             name(n0, match<op::Conv>(name(n1, sole_use(match<op::Pad>(x, others))), others)),
                             again(n0, x).leave_out<"auto_pad">().attr<"pads", pads_of_both>()};

/// Merges constants: (x + a) + b, (x * a) * b and similar become one operation on one constant.
struct join_constants {
  static constexpr std::string_view name = "ConstantReassociation";
  using roots = op_set<op::Add, op::Sub, op::Mul, op::Div>;
  struct makes {
    static constexpr made_op names[] = {{op::Add::domain, op::Add::name, detail::op_id_of<op::Sub>},
                                        {op::Mul::domain, op::Mul::name, detail::op_id_of<op::Div>}};
  };

  /// The constant that a node adds to or multiplies with its other input, `x`.
  static const value* operand(const rewriter& r, const node_view& n, value_view& x) {
    const bool ordered = n.has_op<op::Sub, op::Div>();
    const std::size_t at = !ordered && r.constant(n.input(0)) ? 0 : 1;
    if (n.since() < 7 || n.input_count() != 2 || r.constant(n.input(1 - at))) return nullptr;
    x = n.input(1 - at);
    const value* const c = r.constant(n.input(at));
    return is_real(c) && c->bytes() <= most_copied ? c : nullptr;
  }
  /// The constant whose shape both constants have together; null if it would be larger than each of them.
  static const value* larger(const value& inner, const value& outer) {
    const bool outer_is_larger = outer.shape.rank() > inner.shape.rank() || outer.shape.count() > inner.shape.count();
    const value &large = outer_is_larger ? outer : inner, &small = outer_is_larger ? inner : outer;
    const bool fits = small.shape.rank() <= large.shape.rank();
    return fits && (small.shape.count() == 1 || small.shape == large.shape) ? &large : nullptr;
  }
  static bool is_sum(const node_view& n) { return n.has_op<op::Add, op::Sub>(); }

  static bool rewrite(rewriter& r, const node_view& n) {
    value_view between, x;
    const value* const outer = operand(r, n, between);
    const node_view first = outer ? look::made_by<op::Add, op::Sub, op::Mul, op::Div>(r, between) : node_view{};
    if (!first || is_sum(n) != is_sum(first) || !between.sole_use()) return false;
    const value* const inner = operand(r, first, x);
    if (!inner || inner->type != outer->type) return false;
    // The 0.5 of a Gelu stays separate, because fusions recognize Gelu by it.
    if (number_of(inner) == 0.5 && look::made_by<op::Mul>(r, x)) return false;
    const value* const large = larger(*inner, *outer);
    if (!large) return false;
    edit e{r, n};
    const bool negated = n.has_op<op::Sub, op::Div>(), inner_negated = first.has_op<op::Sub, op::Div>();
    const value_id made = reals(e, between.name(), outer->type, large->shape, [&](std::int64_t i) {
      const double a = repeated_at(*inner, i), b = repeated_at(*outer, i);
      if (is_sum(n)) return (inner_negated ? -a : a) + (negated ? -b : b);
      if (negated == inner_negated) return a * b;
      return negated ? a / b : b / a;
    });
    if (made == value_id::none) return false;
    const bool divides = negated && inner_negated;
    const std::string_view op = is_sum(n) ? op::Add::name : divides ? op::Div::name : op::Mul::name;
    e.replace(n.output(0), e.add(op::Add::domain, op, std::vector<value_id>{x.id(), made}, {}));
    return e.commit();
  }
};

}  // namespace

const transform_table& rules::weight_folding::table() {
  return transform_list<optimization_level::basic, rule_of<batch_norm_into_conv>, rule_of<factor_into_conv>,
                        rule_of<sum_into_conv>, rule_of<batch_norm_into_product>, rule_of<matmul_add>,
                        rule_of<gemm_sum>, rule_of<sum_into_gemm>, rule_of<factor_into_product>, rule_of<factor_before>,
                        rule_of<gemm_transposed_left>, rule_of<gemm_transposed_right>, rule_of<pad_into_conv>,
                        join_constants>::table();
}

}  // namespace CAMEO_NAMESPACE
