#pragma once
#include <cameo/op/onnx.hpp>
#include <cameo/transform/pattern.hpp>

namespace CAMEO_NAMESPACE {

/// The operators of flattened products: Mul, Div by a constant, and Pow with exponent 2 or 3.
inline constexpr flattening product_algebra{detail::op_id_of<op::Mul>, detail::op_id_of<op::Div>,
                                            detail::op_id_of<op::Pow>, 1};
/// The operators of flattened sums: Add, and Sub of a constant.
inline constexpr flattening sum_algebra{detail::op_id_of<op::Add>, detail::op_id_of<op::Sub>, detail::op_id{}, 0};

namespace pattern {
/// `product(number{0.5}, x, x)` matches 0.5 * x * x in every form: any order, any brackets, constants that divide, x to
/// the power of 2. `product(s0, x)` binds the number, which is 1 if there is none. A constant that could make the
/// result larger than the other operand counts as an operand.
template <class Number, class... Parts>
constexpr flattened_pattern<product_algebra, op_set<op::Mul, op::Div>, Number, Parts...> product(Number n,
                                                                                                 Parts... parts) {
  return {n, std::tuple{parts...}};
}
/// `sum(number{0}, x, y, z)` matches sums in every form, like product(); the number is 0 if there is none.
template <class Number, class... Parts>
constexpr flattened_pattern<sum_algebra, op_set<op::Add, op::Sub>, Number, Parts...> sum(Number n, Parts... parts) {
  return {n, std::tuple{parts...}};
}
}  // namespace pattern

}  // namespace CAMEO_NAMESPACE
