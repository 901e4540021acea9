// Fuses layer normalization and its variants from the nodes that exporters write, and the sum before them.
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/fusions.hpp>

#include "transform/rules/embedding_fusion.hpp"
#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace pattern;
using look::is_float, look::is_vector_along, look::last_dim, look::made_by;

/// The mean along the last axis, which stays with size 1; is_of_last_axis() checks `n`.
template <int N, class Of>
constexpr auto mean_of(node_name<N> n, Of of) {
  return name(n, match<op::ReduceMean>(of, others).template attr<"keepdims">(1));
}
bool is_of_last_axis(const match_result& m, const node_view& mean) {
  const std::vector<dim>* const shape = m.in->shape(mean.input(0));
  const std::span<const std::int64_t> written = mean.attributes<op::ReduceMean>().axes;
  std::vector<std::int64_t> axes{written.begin(), written.end()};
  if (mean.input(1)) axes = ints_of(m.in->constant(mean.input(1))).value_or(std::vector<std::int64_t>{});
  return shape && axes.size() == 1 && (axes[0] == -1 || axes[0] + 1 == std::int64_t(shape->size()));
}

/// Matches top / sqrt(mean(of * of) + s0), or top * (1 / sqrt(...)), then an optional factor and summand. Values inside
/// have one reader. n2 is the square, n3 the mean.
template <class Top, class Of>
constexpr auto normalized(Top top, Of of) {
  const auto square =
      either(name(n2, sole_use(match<op::Mul>(of, of))), name(n2, sole_use(match<op::Pow>(of, number{2}))));
  const auto mean = name(n3, sole_use(match<op::ReduceMean>(square, others)).template attr<"keepdims">(1));
  const auto moved = sole_use(any_order(match<op::Add>(mean, s0)));
  const auto root = either(sole_use(match<op::Sqrt>(moved)), sole_use(match<op::Pow>(moved, number{0.5})));
  const auto inverse = either(sole_use(match<op::Reciprocal>(root)), sole_use(match<op::Div>(number{1}, root)),
                              sole_use(match<op::Pow>(moved, number{-0.5})));
  return followed(either(match<op::Div>(top, root), any_order(match<op::Mul>(top, inverse))), then<op::Mul>(w),
                  then<op::Add>(b));
}

bool is_float_value(const match_result&, const value_view& v) { return is_float(v); }
bool is_positive(const match_result&, double epsilon) { return epsilon >= 0; }
bool is_vector_of(const match_result& m, const value_view& v, const value_view& x) {
  return !v || is_vector_along(*m.in, v, x);
}
/// The scale, or ones if there is none; `none` if the result would not be a float32 vector of known length.
value_id scale_or_ones(const match_result& m, edit& e) {
  constexpr std::int64_t most = 1 << 20;
  if (w.get(m)) return w.get(m).id();
  const dim length = last_dim(*m.in, x.get(m));
  if (x.get(m).element() != dtype::f32 || !length.known() || length.size > most) return value_id::none;
  const std::vector<float> ones(std::size_t(length.size), 1.0f);
  return e.constant("ones", value::tensor<float>(extents{length.size}, std::span<const float>{ones}));
}

/// True if the difference x - mean(x) has no readers besides the quotient at the top and the square. The graph may
/// compute the difference once or twice: `top` is the node that the quotient reads, `squared` the one that the square
/// reads.
bool only_these_read(const match_result&, const node_view& top, const node_view& squared, const node_view& square) {
  const value_view a = top.output(0), b = squared.output(0);
  const std::size_t reads = square.has_op<op::Mul>() ? 2 : 1;
  if (a.is_graph_output() || b.is_graph_output()) return false;
  return a == b ? a.use_count() == 1 + reads : a.use_count() == 1 && b.use_count() == reads;
}
template <int N, int Mean>
constexpr auto centered(node_name<N> n, node_name<Mean> mean) {
  return name(n, match<op::Sub>(x, mean_of(mean, x)));
}
constexpr rule layer_norm{"LayerNormFusion", normalized(centered(n0, n4), centered(n1, n5)),
                          make<op::contrib::LayerNormalization>(x, computed<scale_or_ones>, b)
                              .attr<"axis">(-1)
                              .attr<"epsilon", look::number_as_float>(),
                          when(check<is_float_value>(x), check<is_of_last_axis>(n3), check<is_of_last_axis>(n4),
                               check<is_of_last_axis>(n5), check<is_positive>(s0), check<only_these_read>(n0, n1, n2),
                               check<is_vector_of>(w, x), check<is_vector_of>(b, x))};

/// x / sqrt(mean(x * x) + epsilon) * scale.
bool is_not_moved(const match_result&, const value_view& shift) { return !shift; }
constexpr rule simplified_layer_norm{"SimplifiedLayerNormFusion", normalized(x, x),
                                     make<op::contrib::SimplifiedLayerNormalization>(x, computed<scale_or_ones>)
                                         .attr<"axis">(-1)
                                         .attr<"epsilon", look::number_as_float>(),
                                     when(check<is_float_value>(x), check<is_of_last_axis>(n3), check<is_positive>(s0),
                                          check<is_vector_of>(w, x), check<is_not_moved>(b))};

/// Fuses the sum before a normalization: [batch, sequence, hidden] twice, and an optional bias vector.
template <detail::fixed_string Name, class Fused, class... Normalizations>
struct fuse_skip {
  static constexpr std::string_view name{Name};
  using roots = op_set<Normalizations...>;
  using makes = op_set<Fused>;
  using needs = op_set<op::Add>;
  struct parts {
    value_view input, skip, bias;
    node_view bias_sum;
  };
  static parts read(const rewriter& r, const node_view& sum) {
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
  static bool rewrite(rewriter& r, const node_view& norm) {
    const std::vector<dim>* const shape = r.shape(norm.input(0));
    const node_view sum = made_by<op::Add>(r, norm.input(0));
    if (!sum || !is_float(norm.input(0)) || !shape || shape->size() != 3 ||
        (norm.output_count() > 1 && norm.output(1)) || (norm.output_count() > 2 && norm.output(2)))
      return false;
    const auto a = norm.attributes<op::LayerNormalization>();
    if ((a.axis != -1 && a.axis != 2) || !is_vector_along(r, norm.input(1), norm.input(0))) return false;
    const parts p = read(r, sum);
    if (!same_shape(r, p.input, p.skip) || !same_shape(r, p.input, norm.input(0))) return false;
    const bool gives_sum = !norm.input(0).sole_use();
    edit e{r, norm};
    std::vector<value_id> in{p.input.id(), p.skip.id(), norm.input(1).id()};
    if (norm.has_op<op::LayerNormalization>()) in.push_back(norm.input(2).id());
    in.push_back(p.bias.id());
    const attribute attributes[] = {attribute_of("epsilon", a.epsilon)};
    const value_id made = e.add<Fused>(in, attributes, gives_sum ? 4 : 1);
    e.replace(norm.output(0), made);
    if (gives_sum && made != value_id::none) {
      for (std::size_t unused : {1u, 2u}) r.in().set_output(r.in()[made].producer, unused, value_id::none);
      e.replace(norm.input(0), e.output(3));
    }
    return e.commit();
  }
};
using fuse_skip_layer_norm =
    fuse_skip<"SkipLayerNormFusion", op::microsoft::SkipLayerNormalization, op::LayerNormalization>;
using fuse_skip_simplified_layer_norm =
    fuse_skip<"SkipSimplifiedLayerNormFusion", op::microsoft::SkipSimplifiedLayerNormalization,
              op::contrib::SimplifiedLayerNormalization, op::RMSNormalization>;

}  // namespace

const transform_table& rules::normalization_fusion::table() {
  return transform_list<optimization_level::extended, rule_of<layer_norm>, rule_of<embedding::two_tables>,
                        rule_of<embedding::three_tables>, rule_of<simplified_layer_norm>, fuse_skip_layer_norm,
                        fuse_skip_simplified_layer_norm>::table();
}

}  // namespace CAMEO_NAMESPACE
