// Layer normalisation and its kin from the parts that exporters write, and the sum that feeds them.
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/transform.hpp>

#include "transform/rules/embedding_fusion.hpp"
#include "transform/rules/look.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

using namespace look;

/// What ReduceMean is taken of, if it is taken of the last axis alone, which stays as 1.
value_view mean_of(rewriter& r, const value_view& v) {
  const node_view n = made_by<op::ReduceMean>(r, v);
  if (!n || int_attribute(n, "keepdims", 1) != 1) return {};
  const std::vector<dim>* const shape = r.shape(n.input(0));
  std::vector<std::int64_t> axes{ints_attribute(n, "axes").begin(), ints_attribute(n, "axes").end()};
  if (n.input(1)) {
    const auto given = ints_of(r.constant(n.input(1)));
    if (!given) return {};
    axes = *given;
  }
  const bool last = axes.size() == 1 && (axes[0] == -1 || (shape && axes[0] + 1 == std::int64_t(shape->size())));
  return last && shape && !shape->empty() ? n.input(0) : value_view{};
}

/// What is squared: x * x, or x to the power of 2.
value_view square_of(const rewriter& r, const value_view& v) {
  const node_view n = made_by<op::Mul, op::Pow>(r, v);
  if (!n) return {};
  if (n.is<op::Mul>()) return n.input(0) == n.input(1) ? n.input(0) : value_view{};
  const auto power = look::number(r, n.input(1));
  return power && *power == 2 ? n.input(0) : value_view{};
}

/// v = sqrt(mean + epsilon), or to the power of a half, or 1 / that (`inverse`): the mean.
struct root_of_mean {
  value_view mean;
  double epsilon = 0;
  bool inverse = false;

  static root_of_mean of(rewriter& r, const value_view& v) {
    root_of_mean found;
    value_view root = v;
    if (const node_view n = made_by<op::Reciprocal>(r, root)) found.inverse = true, root = n.input(0);
    else if (const node_view one = made_by<op::Div>(r, root); one && look::number(r, one.input(0)) == 1.0)
      found.inverse = true, root = one.input(1);
    const node_view n = made_by<op::Sqrt, op::Pow>(r, root);
    if (!n || !v.sole_use() || !root.sole_use()) return {};
    if (n.is<op::Pow>()) {
      const auto power = look::number(r, n.input(1));
      if (!power || std::abs(*power) != 0.5 || (*power < 0 && found.inverse)) return {};
      found.inverse = found.inverse || *power < 0;
    }
    const node_view sum = made_by<op::Add>(r, n.input(0));
    if (!sum || !n.input(0).sole_use()) return {};
    for (std::size_t i = 0; i < 2; ++i)
      if (const auto e = look::number(r, sum.input(i)); e && *e >= 0 && sum.input(1 - i).sole_use()) {
        found.mean = sum.input(1 - i), found.epsilon = *e;
        return found;
      }
    return {};
  }
};

/// root = top / sqrt(mean(square) + epsilon): the top, and what is squared. Each is sole use but for the top.
struct normalized {
  value_view top, squared;
  double epsilon = 0;
  std::size_t reads_to_square = 1;

  static normalized of(rewriter& r, const node_view& root) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (root.is<op::Div>() && i == 1) break;
      const value_view top = root.input(i), below = root.input(1 - i);
      const root_of_mean found = root_of_mean::of(r, below);
      if (!found.mean || found.inverse != root.is<op::Mul>()) continue;
      const value_view square = mean_of(r, found.mean);
      if (!square || !square.sole_use()) return {};
      return {top, square_of(r, square), found.epsilon, square.producer().is<op::Mul>() ? 2u : 1u};
    }
    return {};
  }
};

/// x less its mean.
value_view centered(rewriter& r, const value_view& v) {
  const node_view n = made_by<op::Sub>(r, v);
  if (!n || !(mean_of(r, n.input(1)) == n.input(0))) return {};
  return n.input(0);
}

/// The node that goes on from `n` by an operation with a vector along the last axis, and that vector.
struct with_vector {
  node_view node;
  value_view vector;
  template <declared_op Op>
  static with_vector after(const rewriter& r, const node_view& n) {
    const node_view next = only_reader<Op>(r, n.output(0));
    if (!next) return {};
    const value_view v = other_input(next, n.output(0));
    return is_vector_along(r, v, n.output(0)) ? with_vector{next, v} : with_vector{};
  }
};

/// A scale for a normalisation that is written without one; `none` where it would be no float32 vector of known length.
value_id ones_along(const rewriter& r, edit& e, const value_view& x) {
  constexpr std::int64_t most = 1 << 20;
  const dim length = last_dim(r, x);
  if (x.element() != dtype::f32 || !length.known() || length.size > most) return value_id::none;
  const std::vector<float> ones(std::size_t(length.size), 1.0f);
  return e.constant("ones", value::tensor<float>(extents{length.size}, std::span<const float>{ones}));
}

struct fuse_layer_norm {
  static constexpr std::string_view name = "LayerNormFusion";
  using roots = op_set<op::Div, op::Mul>;
  using makes = op_set<op::contrib::LayerNormalization>;

  static bool rewrite(rewriter& r, const node_view& root) {
    const normalized found = normalized::of(r, root);
    if (!found.squared) return false;
    const value_view x = centered(r, found.top);
    if (!x || !is_float(x) || !(centered(r, found.squared) == x) || !only_these_read(found)) return false;
    const with_vector scaled = with_vector::after<op::Mul>(r, root);
    const with_vector moved = with_vector::after<op::Add>(r, scaled.node ? scaled.node : root);
    const node_view last = moved.node ? moved.node : scaled.node ? scaled.node : root;
    edit e{r, last};
    const value_id scale = scaled.node ? scaled.vector.id() : ones_along(r, e, x);
    if (scale == value_id::none) return false;
    e.replace(last.output(0), e.add<op::contrib::LayerNormalization>(
                                  {x.id(), scale, moved.vector.id()},
                                  {attribute_of("axis", -1), attribute_of("epsilon", float(found.epsilon))}));
    return e.commit();
  }

  /// x - mean is only read as the top and to be squared; it may be written twice.
  static bool only_these_read(const normalized& found) {
    if (found.top.is_graph_output() || found.squared.is_graph_output()) return false;
    if (found.top == found.squared) return found.top.use_count() == 1 + found.reads_to_square;
    return found.top.use_count() == 1 && found.squared.use_count() == found.reads_to_square;
  }
};

/// x / sqrt(mean(x * x) + epsilon) * scale
struct fuse_simplified_layer_norm {
  static constexpr std::string_view name = "SimplifiedLayerNormFusion";
  using roots = op_set<op::Div, op::Mul>;
  using makes = op_set<op::contrib::SimplifiedLayerNormalization>;

  static bool rewrite(rewriter& r, const node_view& root) {
    const normalized found = normalized::of(r, root);
    const value_view x = found.top;
    if (!found.squared || !(found.squared == x) || !is_float(x)) return false;
    const with_vector scaled = with_vector::after<op::Mul>(r, root);
    const node_view last = scaled.node ? scaled.node : root;
    edit e{r, last};
    const value_id scale = scaled.node ? scaled.vector.id() : ones_along(r, e, x);
    if (scale == value_id::none) return false;
    e.replace(last.output(0),
              e.add<op::contrib::SimplifiedLayerNormalization>(
                  {x.id(), scale}, {attribute_of("axis", -1), attribute_of("epsilon", float(found.epsilon))}));
    return e.commit();
  }
};

/// The sum before a normalisation: [batch, sequence, hidden] twice, perhaps with a bias vector.
struct fuse_skip {
  struct parts {
    value_view input, skip, bias;
    node_view bias_sum;
  };
  static parts of(const rewriter& r, const node_view& sum) {
    for (std::size_t i = 0; i < 2; ++i) {
      const node_view inner = made_by<op::Add>(r, sum.input(i));
      if (!inner || !sum.input(i).sole_use()) continue;
      for (std::size_t k = 0; k < 2; ++k)
        if (is_vector_along(r, inner.input(k), inner.input(1 - k)) &&
            same_shape(r, inner.input(1 - k), sum.input(1 - i)))
          return {inner.input(1 - k), sum.input(1 - i), inner.input(k), inner};
    }
    return {sum.input(0), sum.input(1), {}, {}};
  }
  template <class Fused>
  static bool rewrite(rewriter& r, const node_view& norm, bool has_beta) {
    const std::vector<dim>* const shape = r.shape(norm.input(0));
    const node_view sum = made_by<op::Add>(r, norm.input(0));
    if (!sum || !is_float(norm.input(0)) || !shape || shape->size() != 3 ||
        (norm.output_count() > 1 && norm.output(1)) || (norm.output_count() > 2 && norm.output(2)))
      return false;
    const std::int64_t axis = int_attribute(norm, "axis", -1);
    if ((axis != -1 && axis != 2) || !is_vector_along(r, norm.input(1), norm.input(0))) return false;
    const parts p = of(r, sum);
    if (!same_shape(r, p.input, p.skip) || !same_shape(r, p.input, norm.input(0))) return false;
    const float epsilon = float_attribute(norm, "epsilon", 1e-5f);
    const bool gives_sum = !norm.input(0).sole_use();
    edit e{r, norm};
    std::vector<value_id> in{p.input.id(), p.skip.id(), norm.input(1).id()};
    if (has_beta) in.push_back(norm.input(2).id());
    in.push_back(p.bias.id());
    const attribute attributes[] = {attribute_of("epsilon", epsilon)};
    const value_id made = e.add<Fused>(in, attributes, gives_sum ? 4 : 1);
    e.replace(norm.output(0), made);
    if (gives_sum && made != value_id::none) {
      for (std::size_t unused : {1u, 2u}) r.in().set_output(r.in()[made].producer, unused, value_id::none);
      e.replace(norm.input(0), e.output(3));
    }
    return e.commit();
  }
};
struct fuse_skip_layer_norm {
  static constexpr std::string_view name = "SkipLayerNormFusion";
  using roots = op_set<op::LayerNormalization>;
  using makes = op_set<op::microsoft::SkipLayerNormalization>;
  using needs = op_set<op::Add>;
  static bool rewrite(rewriter& r, const node_view& norm) {
    return fuse_skip::rewrite<op::microsoft::SkipLayerNormalization>(r, norm, true);
  }
};
struct fuse_skip_simplified_layer_norm {
  static constexpr std::string_view name = "SkipSimplifiedLayerNormFusion";
  using roots = op_set<op::contrib::SimplifiedLayerNormalization, op::RMSNormalization>;
  using makes = op_set<op::microsoft::SkipSimplifiedLayerNormalization>;
  using needs = op_set<op::Add>;
  static bool rewrite(rewriter& r, const node_view& norm) {
    return fuse_skip::rewrite<op::microsoft::SkipSimplifiedLayerNormalization>(r, norm, false);
  }
};

}  // namespace

const transform_table& normalization_fusion::table() {
  return transform_list<optimization_level::extended, fuse_layer_norm, fuse_embedding, fuse_simplified_layer_norm,
                        fuse_skip_layer_norm, fuse_skip_simplified_layer_norm>::table();
}

}  // namespace cameo::inline CAMEO_ABI
