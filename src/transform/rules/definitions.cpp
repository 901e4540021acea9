// Operators that ONNX Runtime 1.31 has no kernel for, by what ONNX says they are.
#include "transform/rules/definitions.hpp"

#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/definitions.hpp>

namespace cameo::inline CAMEO_ABI {
namespace {

using namespace pattern;

constexpr rule hard_swish{"HardSwishDefinition", match<op::HardSwish>(x),
                          make<op::Mul>(x, make<op::HardSigmoid>(x).attr<"alpha">(1.0f / 6).attr<"beta">(0.5f))};
constexpr rule mish{"MishDefinition", match<op::Mish>(x), make<op::Mul>(x, make<op::Tanh>(make<op::Softplus>(x)))};
constexpr node_name<0> swish_of;
constexpr rule swiglu{"SwiGLUDefinition", name(swish_of, match<op::SwiGLU>(x, y)),
                      make<op::Mul>(make<op::Swish>(x).copy<"alpha">(swish_of), y)};

/// x * Sigmoid(alpha * x)
struct swish {
  static constexpr std::string_view name = "SwishDefinition";
  using roots = op_set<op::Swish>;
  using makes = op_set<op::Mul, op::Sigmoid>;

  static bool rewrite(rewriter& r, const node_view& n) {
    if (!r.may_touch(n) || !n.input(0)) return false;
    edit e{r, n};
    const value_id in = n.input(0).id();
    const float alpha = float_attribute(n, "alpha", 1);
    const value_id scaled =
        alpha == 1 ? in : e.add<op::Mul>({in, e.scalar("alpha", n.input(0).element(), double(alpha))});
    e.replace(n.output(0), e.add<op::Mul>({in, e.add<op::Sigmoid>({scaled})}));
    return e.commit();
  }
};

/// CastLike(x, like) is Cast(x) to the type of `like`.
struct cast_like {
  static constexpr std::string_view name = "CastLikeDefinition";
  using roots = op_set<op::CastLike>;
  using makes = op_set<op::Cast>;

  static bool rewrite(rewriter& r, const node_view& n) {
    if (!r.may_touch(n) || !n.input(1) || n.input(1).element() == dtype::undefined) return false;
    std::vector<attribute> attributes{attribute_of("to", std::int64_t(n.input(1).element()))};
    for (const attribute& a : n.raw().attributes) attributes.push_back(a);
    edit e{r, n};
    const value_id in = n.input(0).id();
    e.replace(n.output(0), e.add<op::Cast>({&in, 1}, attributes));
    return e.commit();
  }
};

/// 1 where a number of [0, 1) is below the probability. Other numbers than before, as every run gives others.
struct bernoulli {
  static constexpr std::string_view name = "BernoulliDefinition";
  using roots = op_set<op::Bernoulli>;
  using makes = op_set<op::RandomUniformLike, op::Less, op::Cast>;

  static bool rewrite(rewriter& r, const node_view& n) {
    if (!r.may_touch(n) || n.input(0).element() == dtype::undefined) return false;
    const std::int64_t from = std::int64_t(n.input(0).element()), to = int_attribute(n, "dtype", from);
    std::vector<attribute> drawn{attribute_of("dtype", from)};
    if (const attribute* const seed = n.find("seed")) drawn.push_back(*seed);
    edit e{r, n};
    const value_id in = n.input(0).id();
    const value_id below = e.add<op::Less>({e.add<op::RandomUniformLike>({&in, 1}, drawn), in});
    e.replace(n.output(0), e.add<op::Cast>({below}, {attribute_of("to", to)}));
    return e.commit();
  }
};

}  // namespace

const transform_table& definitions::table() {
  return transform_list<optimization_level::basic, rule_of<hard_swish>, rule_of<mish>, rule_of<swiglu>, swish,
                        cast_like, bernoulli, define::likelihood_loss, define::cross_entropy_loss,
                        define::center_crop_pad, define::group_normalization,
                        define::sequence_map>::table<define::when_saved>();
}

}  // namespace cameo::inline CAMEO_ABI
