// Nodes that give what they get go; chains of casts, limits and reshapes become one of them.
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/standard.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "transform/rules/shapes.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

using namespace pattern;

/// Readers of the first output read `now` instead.
bool replace_by(rewriter& r, const node_view& n, const value_view& now) {
  edit e{r, n};
  e.replace(n.output(0), now.id());
  return e.commit();
}

value_id output_of_n0(const match_result& m, edit&) { return m.nodes[0].output(0).id(); }

constexpr rule identity{"EliminateIdentity", match<op::Identity>(x), x};
constexpr rule one_input{"EliminateSingleInput", match<op::Concat, op::Sum, op::Max, op::Min, op::Mean>(x), x};
constexpr rule not_of_not{"EliminateDoubleNegation", match<op::Not>(match<op::Not>(x)), x};
constexpr rule neg_of_neg{"EliminateDoubleNegation", match<op::Neg>(match<op::Neg>(x)), x};
constexpr rule relu_of_relu{"EliminateRelu", match<op::Relu>(name(n0, match<op::Relu>(x))), computed<output_of_n0>};
constexpr rule where_not{"NotWhereFusion", match<op::Where>(sole_use(match<op::Not>(x)), y, z),
                         make<op::Where>(x, z, y)};

/// Dropout outside training.
struct eliminate_dropout {
  static constexpr std::string_view name = "EliminateDropout";
  using roots = op_set<op::Dropout>;
  static bool rewrite(rewriter& r, const node_view& n) {
    if (const value_view mask = n.output(1); mask && (mask.use_count() || mask.is_graph_output())) return false;
    if (n.since() < 7 && int_attribute(n, "is_test") == 0) return false;
    if (const value_view training = n.input(2)) {
      const value* const is_on = r.constant(training);
      if (!is_on || is_on->kind != value_kind::tensor || is_on->type != dtype::boolean || is_on->shape.count() != 1 ||
          *static_cast<const std::uint8_t*>(is_on->data) != 0)
        return false;
    }
    return n.input(0) && replace_by(r, n, n.input(0));
  }
};

/// x + 0, x - 0, x * 1, x / 1, x ^ 1, where the constant does not make x larger.
struct eliminate_arithmetic {
  static constexpr std::string_view name = "NoopElimination";
  using roots = op_set<op::Add, op::Sub, op::Mul, op::Div, op::Pow>;
  static constexpr std::int64_t most_elements = 4096;  // larger ones are not worth the reading

  static bool keeps(rewriter& r, const value_view& kept, const value_view& other, double neutral) {
    const value* const c = kept && other ? r.constant(other) : nullptr;
    if (!c || c->kind != value_kind::tensor || c->shape.count() > most_elements) return false;
    if (c->shape.rank() > 0) {
      const std::vector<dim>* const shape = r.shape(kept);
      if (!shape || shape->size() < c->shape.rank()) return false;
      for (std::size_t i = 0; i < c->shape.rank(); ++i) {
        const std::int64_t size = c->shape[i];
        if (size != 1 && (*shape)[shape->size() - c->shape.rank() + i].size != size) return false;
      }
    }
    return all_equal(c, neutral);
  }
  static bool rewrite(rewriter& r, const node_view& n) {
    const bool sum = n.is<op::Add>() || n.is<op::Sub>(), either = n.is<op::Add>() || n.is<op::Mul>();
    if (n.since() < 7 && n.find("axis")) return false;
    const double neutral = sum ? 0 : 1;
    if (keeps(r, n.input(0), n.input(1), neutral) && replace_by(r, n, n.input(0))) return true;
    return either && keeps(r, n.input(1), n.input(0), neutral) && replace_by(r, n, n.input(1));
  }
};

/// Every number of `from` is a number of `to`.
bool is_lossless(dtype from, dtype to) {
  struct range {
    dtype type;
    bool real, is_signed;
    int digits, exponent;  // bits of the numbers without the sign; for reals the largest exponent
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

/// A cast to the type that the input has.
struct eliminate_cast {
  static constexpr std::string_view name = "CastElimination";
  using roots = op_set<op::Cast, op::CastLike>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const value_view from = n.input(0), to = n.output(0);
    if (!from || !to || from.element() == dtype::undefined) return false;
    const dtype wanted = n.is<op::Cast>() ? dtype(int_attribute(n, "to")) : n.input(1) ? n.input(1).element() : dtype{};
    return from.element() == wanted && replace_by(r, n, from);
  }
};

/// A cast of a cast that loses nothing is one cast.
struct fuse_casts {
  static constexpr std::string_view name = "CastChainElimination";
  using roots = op_set<op::Cast>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const value_view between = n.input(0);
    const node_view first = between && !between.is_capture() ? between.producer() : node_view{};
    if (!first || !first.is<op::Cast>() || !r.may_touch(first) || !first.input(0)) return false;
    const dtype from = first.input(0).element(), mid = between.element(), to = dtype(int_attribute(n, "to"));
    if (from == mid || !is_lossless(from, mid) || (to != dtype::boolean && !is_lossless(to, to))) return false;
    // Reals that an integer type can't hold become whatever the conversion between just these two makes of them.
    const bool is_whole = !is_real(to) && to != dtype::boolean;
    if (is_whole && is_real(mid) && !is_real(from) && !is_lossless(from, to)) return false;
    if (to == from) return replace_by(r, n, first.input(0));
    edit e{r, n};
    e.replace(n.output(0), e.add<op::Cast>({first.input(0).id()}, {attribute_of("to", std::int64_t(to))}));
    return e.commit();
  }
};

/// Axes that stay where they are.
struct eliminate_transpose {
  static constexpr std::string_view name = "EliminateTranspose";
  using roots = op_set<op::Transpose>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const std::vector<dim>* const shape = n.input(0) ? r.shape(n.input(0)) : nullptr;
    if (n.find("perm")) {
      std::int64_t at = 0;
      for (std::int64_t axis : ints_attribute(n, "perm"))
        if (axis != at++) return false;
    } else if (!shape || shape->size() > 1) {
      return false;
    }
    return n.input(0) && replace_by(r, n, n.input(0));
  }
};

/// A slice that takes everything.
struct eliminate_slice {
  static constexpr std::string_view name = "EliminateSlice";
  using roots = op_set<op::Slice>;

  struct bound {
    std::optional<std::int64_t> number;
    dim size;
  };
  /// An attribute or an input as bounds; false if not even their number is known.
  static bool bounds_of(rewriter& r, const node_view& n, std::string_view attribute, std::size_t input,
                        std::vector<bound>& found) {
    if (n.since() < 10) {
      for (std::int64_t i : ints_attribute(n, attribute)) found.push_back({i, {}});
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
  static bool rewrite(rewriter& r, const node_view& n) {
    std::vector<bound> starts, ends, axes, steps;
    const std::vector<dim>* const shape = n.input(0) ? r.shape(n.input(0)) : nullptr;
    if (!shape || !bounds_of(r, n, "starts", 1, starts) || !bounds_of(r, n, "ends", 2, ends) ||
        !bounds_of(r, n, "axes", 3, axes) || (n.since() >= 10 && !bounds_of(r, n, "steps", 4, steps)))
      return false;
    if (starts.size() != ends.size() || (!axes.empty() && axes.size() != starts.size())) return false;
    for (const bound& step : steps)
      if (step.number != 1) return false;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::optional<std::int64_t> at = axes.empty() ? std::int64_t(i) : axes[i].number;
      if (!at) return false;
      const std::int64_t axis = *at < 0 ? *at + std::int64_t(shape->size()) : *at;
      if (axis < 0 || axis >= std::int64_t(shape->size())) return false;
      const dim d = (*shape)[std::size_t(axis)];
      const bool from_first =
          starts[i].number && (*starts[i].number == 0 || (d.known() && *starts[i].number <= -d.size));
      const bool to_last = ends[i].number ? *ends[i].number == std::numeric_limits<std::int64_t>::max() ||
                                                (d.known() && *ends[i].number >= d.size)
                                          : ends[i].size.same(d);
      if (!from_first || !to_last) return false;
    }
    return replace_by(r, n, n.input(0));
  }
};

/// Pads by nothing.
struct eliminate_pad {
  static constexpr std::string_view name = "EliminatePad";
  using roots = op_set<op::Pad>;
  static bool rewrite(rewriter& r, const node_view& n) {
    std::optional<std::vector<std::int64_t>> pads;
    if (n.since() >= 11) {
      pads = n.input(1) ? ints_of(r.constant(n.input(1))) : std::nullopt;
    } else {
      const std::span<const std::int64_t> given = ints_attribute(n, n.since() < 2 ? "paddings" : "pads");
      pads.emplace(given.begin(), given.end());
    }
    if (!n.input(0) || !pads || std::ranges::any_of(*pads, [](std::int64_t p) { return p != 0; })) return false;
    return replace_by(r, n, n.input(0));
  }
};

/// Limits of limits are one pair of limits; Relu is one without an upper end.
struct fuse_limits {
  static constexpr std::string_view name = "FuseReluClip";
  using roots = op_set<op::Clip, op::Relu>;
  struct makes {
    static constexpr made_op names[] = {{op::Relu::domain, op::Relu::name, op_id_of<op::Clip>}};
  };
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  struct limits {
    double low = -infinity, high = infinity;
  };

  static bool limits_of(rewriter& r, const node_view& n, limits& found) {
    if (n.is<op::Relu>()) {
      found.low = 0;
    } else if (n.since() < 11) {
      found = {float_attribute(n, "min", std::numeric_limits<float>::lowest()),
               float_attribute(n, "max", std::numeric_limits<float>::max())};
    } else {
      for (std::size_t i : {1, 2}) {
        if (!n.input(i)) continue;
        const std::optional<double> number = number_of(r.constant(n.input(i)));
        if (!number || (n.input(i).element() == dtype::i64 && std::abs(*number) > 0x1p53)) return false;
        (i == 1 ? found.low : found.high) = *number;
      }
    }
    return found.low <= found.high;
  }

  static value_id limited(edit& e, const node_view& n, value_id from, const limits& to) {
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

  static bool rewrite(rewriter& r, const node_view& n) {
    limits second, first;
    if (!n.input(0) || n.input(0).is_capture() || !limits_of(r, n, second)) return false;
    const node_view before = n.input(0).producer();
    if (!before || !(before.is<op::Relu>() || before.is<op::Clip>()) || !r.may_touch(before) ||
        !n.input(0).sole_use() || !before.input(0) || !limits_of(r, before, first))
      return false;
    const limits both{std::clamp(first.low, second.low, second.high), std::clamp(first.high, second.low, second.high)};
    edit e{r, n};
    const value_id made = limited(e, n, before.input(0).id(), both);
    if (made == value_id::none) return false;
    e.replace(n.output(0), made);
    return e.commit();
  }
};

/// The constant axes of a Squeeze or Unsqueeze, sorted; nothing if there are none.
std::optional<std::vector<std::int64_t>> axes_of(rewriter& r, const node_view& n) {
  std::optional<std::vector<std::int64_t>> axes;
  if (n.since() < 13) {
    if (const attribute* const a = n.find("axes")) axes.emplace(a->ints.begin(), a->ints.end());
  } else if (n.input(1)) {
    axes = ints_of(r.constant(n.input(1)));
  }
  if (axes) std::ranges::sort(*axes);
  return axes;
}

/// A node, or a chain of reshapes, that ends in the shape it began with.
struct eliminate_reshape {
  static constexpr std::string_view name = "EliminateReshape";
  using roots = op_set<op::Reshape, op::Flatten, op::Squeeze, op::Unsqueeze, op::Expand, op::Tile>;
  static constexpr int longest = 8;

  static bool undoes(rewriter& r, const node_view& second, const node_view& first) {
    if (!(second.is<op::Squeeze>() && first.is<op::Unsqueeze>()) &&
        !(second.is<op::Unsqueeze>() && first.is<op::Squeeze>()))
      return false;
    const auto axes = axes_of(r, first);
    return axes && axes == axes_of(r, second);
  }

  /// What the file declares of a result whose shape only a run finds out may be wrong.
  static bool has_inferred_shape(rewriter& r, const node_view& n) {
    if (!n.input(1) || r.constant(n.input(1))) return true;
    const std::vector<dim>* const wanted = r.elements(n.input(1));
    return wanted && std::ranges::all_of(*wanted, [](const dim& d) { return d.known() || d.symbol != 0; });
  }

  static bool rewrite(rewriter& r, const node_view& n) {
    value_view from = n.input(0);
    if (!from || !has_inferred_shape(r, n)) return false;
    if (same_shape(r, from, n.output(0))) return replace_by(r, n, from);
    if (!n.is(role::reshapes)) return false;
    for (int length = 1; length < longest; ++length) {
      const node_view before = from.is_capture() ? node_view{} : from.producer();
      if (!before || !before.is(role::reshapes) || !before.input(0)) return false;
      const bool pair = length == 1 && undoes(r, n, before);
      from = before.input(0);
      if (pair || same_shape(r, from, n.output(0))) return replace_by(r, n, from);
    }
    return false;
  }
};

/// Reshape of another reshape: only the last shape matters.
struct fuse_reshapes {
  static constexpr std::string_view name = "ReshapeFusion";
  using roots = op_set<op::Reshape>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const value_view between = n.input(0);
    const node_view before = between && !between.is_capture() ? between.producer() : node_view{};
    if (n.since() < 5 || !before || !before.is(role::reshapes) || !r.may_touch(before) || !before.input(0) ||
        !n.input(1))
      return false;
    const std::optional<std::vector<std::int64_t>> sizes = ints_of(r.constant(n.input(1)));
    if (!sizes) return false;
    if (int_attribute(n, "allowzero") == 0)
      for (std::size_t i = 0; i < sizes->size(); ++i) {
        if ((*sizes)[i] != 0) continue;
        const std::vector<dim>*const was = r.shape(between), *const is = r.shape(before.input(0));
        if (!was || !is || i >= was->size() || i >= is->size() || !(*was)[i].same((*is)[i])) return false;
      }
    edit e{r, n};
    const value_id inputs[] = {before.input(0).id(), n.input(1).id()};
    e.replace(n.output(0), e.add<op::Reshape>(inputs, n.raw().attributes));
    return e.commit();
  }
};

}  // namespace

const transform_table& elimination::table() {
  return transform_list<optimization_level::basic, rule_of<identity>, eliminate_dropout, rule_of<one_input>,
                        rule_of<not_of_not>, rule_of<neg_of_neg>, rule_of<relu_of_relu>, rule_of<where_not>,
                        eliminate_arithmetic, eliminate_cast, fuse_casts, eliminate_transpose, eliminate_slice,
                        eliminate_pad, fuse_limits, eliminate_reshape, fuse_reshapes>::table();
}

}  // namespace cameo::inline CAMEO_ABI
