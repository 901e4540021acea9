// x * 0.5 * (1 + erf(x / sqrt 2)) and its relatives, in whatever order their factors stand.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/fusions.hpp>

#include <numbers>

#include "transform/rules/look.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

using namespace look;

/// A product as its number and what else is in it, powers written out: 0.5 * x * x is {0.5, {x, x}}.
struct product {
  static constexpr std::size_t most = 4, deepest = 4;
  double number = 1;
  std::array<value_view, most> factors;
  std::size_t count = 0;
  bool good = true;

  bool add(const value_view& v) {
    if (count == most) return false;
    factors[count++] = v;
    return true;
  }
  /// Takes `v` apart. Products that others read too are factors.
  bool take(const rewriter& r, const value_view& v, bool inner = true, std::size_t depth = 0) {
    if (const std::optional<double> n = look::number(r, v)) {
      number *= *n;
      return true;
    }
    const node_view n = made_by<op::Mul, op::Div, op::Pow>(r, v);
    if (!n || depth == deepest || (inner && !v.sole_use())) return add(v);
    if (n.is<op::Mul>()) return take(r, n.input(0), true, depth + 1) && take(r, n.input(1), true, depth + 1);
    const std::optional<double> by = look::number(r, n.input(1));
    if (n.is<op::Div>()) {
      if (!by || *by == 0) return add(v);
      number /= *by;
      return take(r, n.input(0), true, depth + 1);
    }
    if (!by || (*by != 2 && *by != 3) || look::number(r, n.input(0))) return add(v);
    for (int i = 0; i < int(*by); ++i)
      if (!add(n.input(0))) return false;
    return true;
  }
  static product of(const rewriter& r, const value_view& v, bool inner = true) {
    product p;
    p.good = p.take(r, v, inner);
    return p;
  }
  bool is(double n, const value_view& x, std::size_t times) const {
    if (!good || !about(number, n) || count != times) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!(factors[i] == x)) return false;
    return true;
  }
};

/// v = n + (the value returned), without another reader.
value_view added_to(const rewriter& r, const value_view& v, double n) {
  const node_view sum = made_by<op::Add>(r, v);
  if (!sum || !v.sole_use()) return {};
  for (std::size_t i = 0; i < 2; ++i)
    if (const auto found = look::number(r, sum.input(i)); found && about(*found, n)) return sum.input(1 - i);
  return {};
}

constexpr double tanh_scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, tanh_cube = 0.044715;

bool is_erf_argument(const rewriter& r, const value_view& v, const value_view& x) {
  return product::of(r, v).is(std::numbers::sqrt2 / 2, x, 1);
}
/// sqrt(2/pi) * (x + 0.044715 x^3), or with x taken out.
bool is_tanh_argument(const rewriter& r, const value_view& v, const value_view& x) {
  const product p = product::of(r, v);
  if (!p.good || !about(p.number, tanh_scale)) return false;
  if (p.count == 1) {
    const node_view sum = made_by<op::Add>(r, p.factors[0]);
    if (!sum || !p.factors[0].sole_use()) return false;
    for (std::size_t i = 0; i < 2; ++i)
      if (sum.input(i) == x && product::of(r, sum.input(1 - i)).is(tanh_cube, x, 3)) return true;
    return false;
  }
  if (p.count != 2) return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (p.factors[i] == x)
      if (const value_view square = added_to(r, p.factors[1 - i], 1))
        if (product::of(r, square).is(tanh_cube, x, 2)) return true;
  return false;
}

bool replace(rewriter& r, const node_view& root, std::string_view op, const value_view& x,
             std::initializer_list<attribute> attributes = {}) {
  // Without x's rank, constants of a higher rank could have shaped the result.
  if (!r.shape(x) || !is_float(x)) return false;
  edit e{r, root};
  const value_id in[] = {x.id()};
  e.replace(root.output(0), e.add(op::microsoft::Gelu::domain, op, in, attributes));
  return e.commit();
}

/// 0.5 * x * (1 + f), where f is one of `Function` of what `argument` accepts.
template <class Function, bool (*Argument)(const rewriter&, const value_view&, const value_view&)>
bool half_of_one_more(rewriter& r, const node_view& root, std::string_view op) {
  const product p = product::of(r, root.output(0), false);
  if (!p.good || p.count != 2 || !about(p.number, 0.5)) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const value_view x = p.factors[1 - i], inner = added_to(r, p.factors[i], 1);
    const node_view f = inner && inner.sole_use() ? made_by<Function>(r, inner) : node_view{};
    if (f && Argument(r, f.input(0), x)) return replace(r, root, op, x);
  }
  return false;
}

struct fuse_gelu {
  static constexpr std::string_view name = "GeluFusion";
  using roots = op_set<op::Mul, op::Div>;
  using makes = op_set<op::microsoft::Gelu>;
  using needs = op_set<op::Erf>;
  static bool rewrite(rewriter& r, const node_view& root) {
    return half_of_one_more<op::Erf, is_erf_argument>(r, root, op::microsoft::Gelu::name);
  }
};

struct fuse_fast_gelu {
  static constexpr std::string_view name = "FastGeluFusion";
  using roots = op_set<op::Mul, op::Div>;
  using makes = op_set<op::microsoft::FastGelu>;
  using needs = op_set<op::Tanh>;
  static bool rewrite(rewriter& r, const node_view& root) {
    return half_of_one_more<op::Tanh, is_tanh_argument>(r, root, op::microsoft::FastGelu::name);
  }
};

/// x * sigmoid(alpha * x)
struct fuse_quick_gelu {
  static constexpr std::string_view name = "QuickGeluFusion";
  using roots = op_set<op::Mul>;
  using makes = op_set<op::microsoft::QuickGelu>;
  using needs = op_set<op::Sigmoid>;
  static bool rewrite(rewriter& r, const node_view& root) {
    for (std::size_t i = 0; i < 2; ++i) {
      const value_view x = root.input(1 - i), gate = root.input(i);
      const node_view f = made_by<op::Sigmoid>(r, gate);
      if (!f || !gate.sole_use()) continue;
      if (f.input(0) == x) return replace(r, root, op::microsoft::QuickGelu::name, x, {attribute_of("alpha", 1.0f)});
      const product p = product::of(r, f.input(0));
      if (p.good && p.count == 1 && p.factors[0] == x)
        return replace(r, root, op::microsoft::QuickGelu::name, x, {attribute_of("alpha", float(p.number))});
    }
    return false;
  }
};

using namespace pattern;

bool is_bias_along(const match_result& m, const value_view& bias, const value_view& input) {
  return is_vector_along(*m.in, bias, input);
}
constexpr rule bias_gelu{"BiasGeluFusion",
                         match<op::microsoft::Gelu>(any_order(sole_use(match<op::Add>(x, constant{b})))),
                         make<op::microsoft::BiasGelu>(x, b), when(check<is_bias_along>(b, x))};
constexpr rule bias_fast_gelu{"BiasGeluFusion",
                              match<op::microsoft::FastGelu>(any_order(sole_use(match<op::Add>(x, constant{b})))),
                              make<op::microsoft::FastGelu>(x, b), when(check<is_bias_along>(b, x))};

}  // namespace

const transform_table& gelu_fusion::table() {
  return transform_list<optimization_level::extended, fuse_gelu, fuse_fast_gelu, fuse_quick_gelu, rule_of<bias_gelu>,
                        rule_of<bias_fast_gelu>>::table();
}

}  // namespace cameo::inline CAMEO_ABI
