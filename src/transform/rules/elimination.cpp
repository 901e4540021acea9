// Removes nodes that return their input; merges chains of casts, limits and reshapes.
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/standard.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "transform/rules/look.hpp"
#include "transform/rules/wide_float16.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace pattern;

/// Makes readers of the first output read `now` instead.
bool replace_by(rewriter& r, const node_view& n, const value_view& now) {
  edit e{r, n};
  e.replace(n.output(0), now.id());
  return e.commit();
}

value_id output_of_n0(const match_result& m, edit&) { return n0.get(m).output(0).id(); }

constexpr rule identity{"EliminateIdentity", match<op::Identity>(x), x};
constexpr rule one_input{"EliminateSingleInput", match<op::Concat, op::Sum, op::Max, op::Min, op::Mean>(x), x};
constexpr rule not_of_not{"EliminateDoubleNegation", match<op::Not>(match<op::Not>(x)), x};
constexpr rule neg_of_neg{"EliminateDoubleNegation", match<op::Neg>(match<op::Neg>(x)), x};
constexpr rule relu_of_relu{"EliminateRelu", match<op::Relu>(name(n0, match<op::Relu>(x))), computed<output_of_n0>};
constexpr rule where_not{"NotWhereFusion", match<op::Where>(sole_use(match<op::Not>(x)), y, z),
                         make<op::Where>(x, z, y)};

bool returns_input(const match_result&, const node_view& dropout) { return is_inference(dropout); }
constexpr rule inference_dropout{"EliminateDropout", name(n0, match<op::Dropout>(x, others)), x,
                                 when(check<returns_input>(n0))};

/// True if the constant has this number everywhere and the result is not larger than the other operand.
template <int Neutral>
bool leaves_alone(const match_result& m, const value_view& kept, const value_view& other) {
  constexpr std::int64_t most_elements = 4096;  // reading larger ones costs too much
  const value& c = *m.in->constant(other);
  if (m.root.since() < 7 && m.root.attributes<op::Add>().axis) return false;
  if (c.kind != value_kind::tensor || c.shape.count() > most_elements) return false;
  if (c.shape.rank() > 0) {
    const std::vector<dim>* const shape = m.in->shape(kept);
    if (!shape || shape->size() < c.shape.rank()) return false;
    for (std::size_t i = 0; i < c.shape.rank(); ++i) {
      const std::int64_t size = c.shape[i];
      if (size != 1 && (*shape)[shape->size() - c.shape.rank() + i].size != size) return false;
    }
  }
  return all_equal(&c, Neutral);
}
constexpr rule plus_zero{"NoopElimination", any_order(match<op::Add>(x, constant{c})), x,
                         when(check<leaves_alone<0>>(x, c))};
constexpr rule minus_zero{"NoopElimination", match<op::Sub>(x, constant{c}), x, when(check<leaves_alone<0>>(x, c))};
constexpr rule times_one{"NoopElimination", any_order(match<op::Mul>(x, constant{c})), x,
                         when(check<leaves_alone<1>>(x, c))};
constexpr rule by_one{"NoopElimination", match<op::Div, op::Pow>(x, constant{c}), x,
                      when(check<leaves_alone<1>>(x, c))};

/// True if every number of type `from` is a number of type `to`.
bool is_lossless(dtype from, dtype to) {
  struct range {
    dtype type;
    bool real, is_signed;
    int digits, exponent;  // bits of a number without the sign; for reals the largest exponent
  };
  static constexpr range ranges[] = {
      {dtype::boolean, false, false, 1, 0}, {dtype::u8, false, false, 8, 0},   {dtype::u16, false, false, 16, 0},
      {dtype::u32, false, false, 32, 0},    {dtype::u64, false, false, 64, 0}, {dtype::i8, false, true, 7, 0},
      {dtype::i16, false, true, 15, 0},     {dtype::i32, false, true, 31, 0},  {dtype::i64, false, true, 63, 0},
      {dtype::f16, true, true, 11, 15},     {dtype::bf16, true, true, 8, 127}, {dtype::f32, true, true, 24, 127},
      {dtype::f64, true, true, 53, 1023},
  };
  const auto of = [](dtype t) { return std::ranges::find(ranges, t, &range::type); };
  const auto a = of(from), b = of(to);
  if (a == std::end(ranges) || b == std::end(ranges)) return false;
  if (from == to) return true;
  if (to == dtype::boolean || (a->real && !b->real)) return false;
  if (a->real) return a->digits <= b->digits && a->exponent <= b->exponent;
  return a->digits <= b->digits && (b->is_signed || !a->is_signed);
}

bool is_real(dtype t) { return t == dtype::f16 || t == dtype::bf16 || t == dtype::f32 || t == dtype::f64; }

dtype type_of_cast(const node_view& n) { return dtype(n.attributes<op::Cast>().to); }

bool has_wanted_type(const match_result&, const node_view& cast, const value_view& from) {
  if (from.element() == dtype::undefined) return false;
  const dtype wanted = cast.has_op<op::Cast>() ? type_of_cast(cast) : cast.input(1).element();
  return from.element() == wanted && !rounds_between_chains(from, cast);
}
constexpr rule cast_to_itself{"CastElimination", name(n0, match<op::Cast>(x)), x, when(check<has_wanted_type>(n0, x))};
constexpr rule cast_like_itself{"CastElimination", name(n0, match<op::CastLike>(x, y)), x,
                                when(check<has_wanted_type>(n0, x))};

bool gives_what_both_give(const match_result&, const value_view& x, const node_view& first, const node_view& second) {
  const dtype from = x.element(), mid = first.output(0).element(), to = type_of_cast(second);
  if (from == mid || !is_lossless(from, mid) || (to != dtype::boolean && !is_lossless(to, to))) return false;
  // Reals that an integer type cannot represent become whatever the conversion between these two types makes of them.
  const bool is_whole = !is_real(to) && to != dtype::boolean;
  return !is_whole || !is_real(mid) || is_real(from) || is_lossless(from, to);
}
bool casts_on(const match_result& m, const value_view& x) { return type_of_cast(m.root) != x.element(); }
bool casts_back(const match_result& m, const value_view& x) {
  return !casts_on(m, x) && !rounds_between_chains(x, m.root);
}
constexpr auto casts = name(n0, match<op::Cast>(name(n1, match<op::Cast>(x))));
constexpr rule cast_back{"CastChainElimination", casts, x,
                         when(check<gives_what_both_give>(x, n1, n0), check<casts_back>(x))};
constexpr rule cast_of_cast{"CastChainElimination", casts, make<op::Cast>(x).copy<"to">(n0),
                            when(check<gives_what_both_give>(x, n1, n0), check<casts_on>(x))};

/// True for a large table that a Cast makes wider, as exporters write embeddings. After Gather, only the gathered rows
/// are cast, and the table keeps its type in the file. A small table is better cast once, while loading.
bool is_table_made_wider(const match_result& m, const node_view& cast, const value_view& table) {
  constexpr std::uint64_t least = std::uint64_t{1} << 16;
  const value* const constant = m.in->constant(table);
  const dtype to = type_of_cast(cast);
  return constant && constant->kind == value_kind::tensor && constant->bytes() >= least && to != dtype::string &&
         constant->type != dtype::string && bits_of(to) > bits_of(constant->type);
}
constexpr rule gather_then_cast{"GatherBeforeCast",
                                name(n1, match<op::Gather>(name(n0, match<op::Cast>(constant{x})), others)),
                                again(n0, again(n1, x)), when(check<is_table_made_wider>(n0, x))};

bool keeps_axes(const match_result& m, const node_view& transpose, const value_view& x) {
  const attribute_list<std::int64_t> perm = transpose.attributes<op::Transpose>().perm;
  const std::vector<dim>* const shape = m.in->shape(x);
  if (!perm.given) return shape && shape->size() <= 1;
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != std::int64_t(i)) return false;
  return true;
}
constexpr rule transpose_of_nothing{"EliminateTranspose", name(n0, match<op::Transpose>(x)), x,
                                    when(check<keeps_axes>(n0, x))};

/// A bound of a Slice: a number, or a size that is known in a run.
struct slice_bound {
  std::optional<std::int64_t> number;
  dim size;

  /// True if an axis of size d is sliced from its first element, if this is the start.
  bool is_first(dim d) const { return number && (*number == 0 || (d.known() && *number <= -d.size)); }
  /// True if an axis of size d is sliced to its last element, if this is the end.
  bool is_last(dim d) const {
    if (!number) return size.same(d);
    return *number == std::numeric_limits<std::int64_t>::max() || (d.known() && *number >= d.size);
  }
};
/// Reads an attribute, before version 10, or an input as bounds. False if not even their number is known.
bool bounds_of(rewriter& r, const node_view& n, std::span<const std::int64_t> given, std::size_t input,
               std::vector<slice_bound>& found) {
  if (n.since() < 10) {
    for (std::int64_t i : given) found.push_back({i, {}});
    return true;
  }
  const value_view v = n.input(input);
  if (!v) return true;
  if (const std::optional<std::vector<std::int64_t>> ints = ints_of(r.constant(v))) {
    for (std::int64_t i : *ints) found.push_back({i, {}});
  } else if (const std::vector<dim>* const elements = r.elements(v)) {
    for (dim d : *elements) found.push_back({d.known() ? std::optional{d.size} : std::nullopt, d});
  } else {
    return false;
  }
  return true;
}
bool takes_everything(const match_result& m, const node_view& n, const value_view& x) {
  std::vector<slice_bound> starts, ends, axes, steps;
  const auto a = n.attributes<op::Slice>();
  const std::vector<dim>* const shape = m.in->shape(x);
  if (!shape || !bounds_of(*m.in, n, a.starts, 1, starts) || !bounds_of(*m.in, n, a.ends, 2, ends) ||
      !bounds_of(*m.in, n, a.axes, 3, axes) || !bounds_of(*m.in, n, {}, 4, steps))
    return false;
  if (starts.size() != ends.size() || (!axes.empty() && axes.size() != starts.size())) return false;
  for (const slice_bound& step : steps)
    if (step.number != 1) return false;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::optional<std::int64_t> axis = axes.empty() ? std::int64_t(i) : axes[i].number;
    if (!axis || !normalize_axis(*axis, shape->size())) return false;
    const dim d = (*shape)[std::size_t(*axis)];
    if (!starts[i].is_first(d) || !ends[i].is_last(d)) return false;
  }
  return true;
}
constexpr rule whole_slice{"EliminateSlice", name(n0, match<op::Slice>(x, others)), x,
                           when(check<takes_everything>(n0, x))};

bool pads_nothing(const match_result& m, const node_view& n) {
  const auto pads = look::pads_of(*m.in, n);
  return pads && std::ranges::all_of(*pads, [](std::int64_t p) { return p == 0; });
}
constexpr rule empty_pad{"EliminatePad", name(n0, match<op::Pad>(x, others)), x, when(check<pads_nothing>(n0))};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The limits that a Clip or Relu applies.
struct limits {
  double low = -infinity, high = infinity;
};
/// std::nullopt if they are not the same in every run, or exclude everything.
std::optional<limits> limits_of(const rewriter& r, const node_view& n) {
  limits found;
  if (n.has_op<op::Relu>()) {
    found.low = 0;
  } else if (n.since() < 11) {
    const auto a = n.attributes<op::Clip>();
    found = {a.min.value_or(std::numeric_limits<float>::lowest()), a.max.value_or(std::numeric_limits<float>::max())};
  } else {
    for (std::size_t i : {1, 2}) {
      if (!n.input(i)) continue;
      const std::optional<double> number = number_of(r.constant(n.input(i)));
      if (!number || (n.input(i).element() == dtype::i64 && std::abs(*number) > 0x1p53)) return {};
      (i == 1 ? found.low : found.high) = *number;
    }
  }
  return found.low <= found.high ? std::optional{found} : std::nullopt;
}
/// Merges two pairs of limits; Relu has no upper limit.
value_id limited_once(const match_result& m, edit& e) {
  const node_view& n = m.root;
  const std::optional<limits> first = limits_of(*m.in, n1.get(m)), second = limits_of(*m.in, n);
  if (!first || !second) return value_id::none;
  const limits to{std::clamp(first->low, second->low, second->high),
                  std::clamp(first->high, second->low, second->high)};
  const value_id from = x.get(m).id();
  if (to.low == 0 && to.high == infinity) return e.add<op::Relu>({from});
  if (n.raw().opset >= 11) {
    const dtype type = n.output(0).element();
    const auto end = [&](double number, std::string_view stem) {
      return std::isinf(number) ? value_id::none : e.scalar(stem, type, number);
    };
    return e.add<op::Clip>({from, end(to.low, "low"), end(to.high, "high")});
  }
  const float low = float(to.low), high = float(to.high);
  if (low != to.low || high != to.high || std::isinf(low) || std::isinf(high)) return value_id::none;
  return e.add<op::Clip>({from}, {attribute_of("min", low), attribute_of("max", high)});
}
struct relu_of_clip {
  static constexpr made_op names[] = {{op::Relu::domain, op::Relu::name, detail::op_id_of<op::Clip>}};
};
constexpr rule limits_of_limits{
    "FuseReluClip", match<op::Clip, op::Relu>(name(n1, sole_use(match<op::Clip, op::Relu>(x, others))), others),
    computed<limited_once, relu_of_clip>};

/// The constant axes of a Squeeze or Unsqueeze, sorted; std::nullopt if they are not constant.
std::optional<std::vector<std::int64_t>> axes_of(rewriter& r, const node_view& n) {
  std::optional<std::vector<std::int64_t>> axes;
  if (n.since() < 13) {
    if (const auto given = n.attributes<op::Squeeze>().axes; given.given) axes.emplace(given.begin(), given.end());
  } else if (n.input(1)) {
    axes = ints_of(r.constant(n.input(1)));
  }
  if (axes) std::ranges::sort(*axes);
  return axes;
}

/// Removes a node, or a chain of reshapes, that ends in the shape that it starts with.
struct eliminate_reshape {
  static constexpr std::string_view name = "EliminateReshape";
  using roots = op_set<op::Reshape, op::Flatten, op::Squeeze, op::Unsqueeze, op::Expand, op::Tile>;
  static constexpr int longest = 8;

  static bool undoes(rewriter& r, const node_view& second, const node_view& first) {
    if (!(second.has_op<op::Squeeze>() && first.has_op<op::Unsqueeze>()) &&
        !(second.has_op<op::Unsqueeze>() && first.has_op<op::Squeeze>()))
      return false;
    const auto axes = axes_of(r, first);
    return axes && axes == axes_of(r, second);
  }

  /// True unless the shape is only declared: a declaration of a shape that is known in a run may be wrong.
  static bool has_inferred_shape(rewriter& r, const node_view& n) {
    if (!n.input(1) || r.constant(n.input(1))) return true;
    const std::vector<dim>* const wanted = r.elements(n.input(1));
    return wanted && std::ranges::all_of(*wanted, [](const dim& d) { return d.known() || d.symbol != 0; });
  }

  static bool rewrite(rewriter& r, const node_view& n) {
    value_view from = n.input(0);
    if (!from || !has_inferred_shape(r, n)) return false;
    if (same_shape(r, from, n.output(0))) return replace_by(r, n, from);
    if (!n.has_role(role::reshapes)) return false;
    for (int length = 1; length < longest; ++length) {
      const node_view before = from.is_capture() ? node_view{} : from.producer();
      if (!before || !before.has_role(role::reshapes) || !before.input(0)) return false;
      const bool pair = length == 1 && undoes(r, n, before);
      from = before.input(0);
      if (pair || same_shape(r, from, n.output(0))) return replace_by(r, n, from);
    }
    return false;
  }
};

/// True if zeros in the shape, which copy dims of the input, copy the same dims without the first reshape.
bool copies_the_same(const match_result& m, const node_view& before, const value_view& x, const value_view& y) {
  const std::optional<std::vector<std::int64_t>> sizes = ints_of(m.in->constant(y));
  if (!sizes) return false;
  if (m.root.attributes<op::Reshape>().allowzero != 0) return true;
  const std::vector<dim>*const was = m.in->shape(before.output(0)), *const is = m.in->shape(x);
  for (std::size_t i = 0; i < sizes->size(); ++i)
    if ((*sizes)[i] == 0 && (!was || !is || i >= was->size() || i >= is->size() || !(*was)[i].same((*is)[i])))
      return false;
  return true;
}
/// The first of two successive reshapes is removed, because the second one alone determines the shape.
constexpr rule reshape_of_reshape{"ReshapeFusion",
                                  name(n0, match<op::Reshape>(name(n1, having<role::reshapes>(x, others)), y)),
                                  make<op::Reshape>(x, y).copy_all(n0), when(check<copies_the_same>(n1, x, y))};

}  // namespace

const transform_table& rules::elimination::table() {
  return transform_list<
      optimization_level::basic, rule_of<identity>, rule_of<inference_dropout>, rule_of<one_input>, rule_of<not_of_not>,
      rule_of<neg_of_neg>, rule_of<relu_of_relu>, rule_of<where_not>, rule_of<plus_zero>, rule_of<minus_zero>,
      rule_of<times_one>, rule_of<by_one>, rule_of<cast_to_itself>, rule_of<cast_like_itself>, rule_of<cast_back>,
      rule_of<cast_of_cast>, rule_of<gather_then_cast>, rule_of<transpose_of_nothing>, rule_of<whole_slice>,
      rule_of<empty_pad>, rule_of<limits_of_limits>, eliminate_reshape, rule_of<reshape_of_reshape>>::table();
}

}  // namespace CAMEO_NAMESPACE
