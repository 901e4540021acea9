#pragma once
#include <cameo/op/onnx.hpp>
#include <cameo/transform/pattern.hpp>

CAMEO_BEGIN_NAMESPACE

/// Mul, Div by a constant, and Pow with 2 or 3, as one product.
inline constexpr flattening product_algebra{detail::op_id_of<op::Mul>, detail::op_id_of<op::Div>,
                                            detail::op_id_of<op::Pow>, 1};
/// Add and Sub of a constant, as one sum.
inline constexpr flattening sum_algebra{detail::op_id_of<op::Add>, detail::op_id_of<op::Sub>, detail::op_id{}, 0};

namespace pattern {
/// `product(number{0.5}, x, x)`: 0.5 * x * x, however it is written: in any order, with any brackets, with constants
/// that divide, with x to the power of 2. `product(s0, x)` binds the number, which is 1 where there is none. A constant
/// that could make the result larger than the other operand is an operand.
template <class Number, class... Parts>
constexpr flattened_pattern<product_algebra, op_set<op::Mul, op::Div>, Number, Parts...> product(Number n,
                                                                                                 Parts... parts) {
  return {n, std::tuple{parts...}};
}
/// `sum(number{0}, x, y, z)`: the same for sums; the number is 0 where there is none.
template <class Number, class... Parts>
constexpr flattened_pattern<sum_algebra, op_set<op::Add, op::Sub>, Number, Parts...> sum(Number n, Parts... parts) {
  return {n, std::tuple{parts...}};
}
}  // namespace pattern

CAMEO_END_NAMESPACE
