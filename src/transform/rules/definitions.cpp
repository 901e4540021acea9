// Replaces operators that have no kernel in ONNX Runtime 1.31 by ONNX's definitions.
#include "transform/rules/definitions.hpp"

#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/definitions.hpp>

namespace CAMEO_NAMESPACE {
namespace {

using namespace pattern;

constexpr rule hard_swish{"HardSwishDefinition", match<op::HardSwish>(x),
                          make<op::Mul>(x, make<op::HardSigmoid>(x).attr<"alpha">(1.0f / 6).attr<"beta">(0.5f))};
constexpr rule mish{"MishDefinition", match<op::Mish>(x), make<op::Mul>(x, make<op::Tanh>(make<op::Softplus>(x)))};
constexpr node_name<0> swish_of;
constexpr rule swiglu{"SwiGLUDefinition", name(swish_of, match<op::SwiGLU>(x, y)),
                      make<op::Mul>(make<op::Swish>(x).copy<"alpha">(swish_of), y)};

constexpr rule plain_swish{"SwishDefinition", match<op::Swish>(x).attr<"alpha">(1.0f),
                           make<op::Mul>(x, make<op::Sigmoid>(x))};
value_id alpha_of_swish(const match_result& m, edit& e) {
  return e.scalar("alpha", x.get(m).element(), double(m.root.attributes<op::Swish>().alpha));
}
constexpr rule swish{"SwishDefinition", match<op::Swish>(x),
                     make<op::Mul>(x, make<op::Sigmoid>(make<op::Mul>(x, computed<alpha_of_swish>)))};

bool set_type(dtype type, attribute& made) {
  made = attribute_of({}, std::int64_t(type));
  return type != dtype::undefined;
}
bool type_of_x(const match_result& m, attribute& made) { return set_type(x.get(m).element(), made); }
bool type_of_y(const match_result& m, attribute& made) { return set_type(y.get(m).element(), made); }
constexpr rule cast_like{"CastLikeDefinition", name(n0, match<op::CastLike>(x, y)),
                         make<op::Cast>(x).copy_all(n0).attr<"to", type_of_y>()};

bool type_of_draw(const match_result& m, attribute& made) {
  const std::optional<std::int64_t> given = m.root.attributes<op::Bernoulli>().dtype;
  return set_type(given ? dtype(*given) : x.get(m).element(), made);
}
/// 1 where a random number in [0, 1) is below the probability. The numbers differ from Bernoulli's, as those of each
/// run do.
constexpr rule bernoulli{
    "BernoulliDefinition", name(n0, match<op::Bernoulli>(x)),
    make<op::Cast>(make<op::Less>(make<op::RandomUniformLike>(x).copy<"seed">(n0).attr<"dtype", type_of_x>(), x))
        .attr<"to", type_of_draw>()};

}  // namespace

const transform_table& rules::definitions::table() {
  return transform_list<optimization_level::basic, rule_of<hard_swish>, rule_of<mish>, rule_of<swiglu>,
                        rule_of<plain_swish>, rule_of<swish>, rule_of<cast_like>, rule_of<bernoulli>,
                        define::likelihood_loss, define::cross_entropy_loss, define::center_crop_pad,
                        define::group_normalization, define::sequence_map>::table<define::when_saved>();
}

}  // namespace CAMEO_NAMESPACE
