// Fuses x * 0.5 * (1 + erf(x / sqrt 2)) and similar functions, with factors in any order.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/algebra.hpp>
#include <cameo/transform/rules/fusions.hpp>

#include <numbers>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace pattern;

constexpr double tanh_scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, tanh_cube = 0.044715;

/// True for a float value of known rank. If the rank of x is unknown, constants of a higher rank could determine the
/// result's shape.
bool is_float_of_known_rank(const match_result& m, const value_view& x) { return m.in->shape(x) && look::is_float(x); }

/// 0.5 * x * (1 + f(argument))
template <declared_op Function, class Argument>
constexpr auto half_of_one_more(Argument argument) {
  return product(number{0.5}, x, any_order(sole_use(match<op::Add>(sole_use(match<Function>(argument)), number{1}))));
}
constexpr rule gelu{"GeluFusion", half_of_one_more<op::Erf>(product(number{std::numbers::sqrt2 / 2}, x)),
                    make<op::microsoft::Gelu>(x), when(check<is_float_of_known_rank>(x))};

/// sqrt(2/pi) * (x + 0.044715 x^3), or with x taken out.
constexpr auto tanh_argument = either(
    product(number{tanh_scale}, sole_use(any_order(match<op::Add>(x, product(number{tanh_cube}, x, x, x))))),
    product(number{tanh_scale}, x, sole_use(any_order(match<op::Add>(number{1}, product(number{tanh_cube}, x, x))))));
constexpr rule fast_gelu{"FastGeluFusion", half_of_one_more<op::Tanh>(tanh_argument), make<op::microsoft::FastGelu>(x),
                         when(check<is_float_of_known_rank>(x))};

/// x * sigmoid(alpha * x)
constexpr rule quick_gelu{"QuickGeluFusion", any_order(match<op::Mul>(x, sole_use(match<op::Sigmoid>(product(s0, x))))),
                          make<op::microsoft::QuickGelu>(x).attr<"alpha", look::number_as_float>(),
                          when(check<is_float_of_known_rank>(x))};

bool is_bias_along(const match_result& m, const value_view& bias, const value_view& input) {
  return look::is_vector_along(*m.in, bias, input);
}
constexpr rule bias_gelu{"BiasGeluFusion",
                         match<op::microsoft::Gelu>(any_order(sole_use(match<op::Add>(x, constant{b})))),
                         make<op::microsoft::BiasGelu>(x, b), when(check<is_bias_along>(b, x))};
constexpr rule bias_fast_gelu{"BiasGeluFusion",
                              match<op::microsoft::FastGelu>(any_order(sole_use(match<op::Add>(x, constant{b})))),
                              make<op::microsoft::FastGelu>(x, b), when(check<is_bias_along>(b, x))};

}  // namespace

const transform_table& rules::gelu_fusion::table() {
  return transform_list<optimization_level::extended, rule_of<gelu>, rule_of<fast_gelu>, rule_of<quick_gelu>,
                        rule_of<bias_gelu>, rule_of<bias_fast_gelu>>::table();
}

}  // namespace CAMEO_NAMESPACE
