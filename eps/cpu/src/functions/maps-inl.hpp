// The functions of operators with one operand, compiled once per instruction set: `apply(op::X{}, x)`, with the
// operator's numeric attributes after x, in alphabetical order. V is a vector of float or double, or a number of
// another type. Comparisons are written so that NaN is propagated.
#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "elementary-inl.hpp"
#include "form.hpp"

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions {

// --- numbers ---

template <class V>
HWY_INLINE V apply(op::Neg, V x) {
  if constexpr (std::is_integral_v<V>) return V(wrapping<V>(0) - wrapping<V>(x));
  else return -x;
}
template <class V>
HWY_INLINE V apply(op::Abs, V x) {
  if constexpr (is_vector<V>) return abs(x);
  else return select(x < V(0), apply(op::Neg{}, x), x);
}
template <class V>
HWY_INLINE V apply(op::Sign, V x) {
  return select(x > V(0), V(1), select(x < V(0), V(-1), x));
}
template <class V>
HWY_INLINE bool apply(op::Not, V x) {
  return !is_true(x);
}
template <std::integral V>
HWY_INLINE V apply(op::BitwiseNot, V x) {
  return V(~x);
}
template <class V>
HWY_INLINE bool apply(op::IsNaN, V x) {
  return x != x;
}
template <class V>
HWY_INLINE bool apply(op::IsInf, V x, V detect_negative, V detect_positive) {
  return (detect_negative != 0 && x == -infinity<V>) || (detect_positive != 0 && x == infinity<V>);
}
/// Integers are computed in double and saturated; NaN becomes 0.
template <class V>
HWY_INLINE V apply(op::Shrink, V x, argument<V> bias, argument<V> lambd) {
  if constexpr (std::is_integral_v<V>) {
    if (double(x) >= -lambd && double(x) <= lambd) return 0;
    const double y = double(x) + (double(x) > lambd ? -bias : bias);
    constexpr auto low = std::numeric_limits<V>::min(), high = std::numeric_limits<V>::max();
    return y <= double(low) ? low : y >= double(high) ? high : y == y ? V(y) : V(0);
  } else {
    return select(x < -lambd, x + bias, select(x > lambd, x - bias, V(0)));
  }
}
template <class V>
HWY_INLINE V apply(op::Reciprocal, V x) {
  return V(1) / x;
}
template <class V>
HWY_INLINE V apply(op::Sqrt, V x) {
  return sqrt(x);
}
template <class V>
HWY_INLINE V apply(op::Floor, V x) {
  return floor(x);
}
template <class V>
HWY_INLINE V apply(op::Ceil, V x) {
  return ceil(x);
}
template <class V>
HWY_INLINE V apply(op::Round, V x) {
  return nearest(x);
}

// --- elementary functions ---

template <class V>
HWY_INLINE V apply(op::Exp, V x) {
  return exp(x);
}
template <class V>
HWY_INLINE V apply(op::Log, V x) {
  return log(x);
}
template <class V>
HWY_INLINE V apply(op::Tanh, V x) {
  return tanh(x);
}
/// Opset 9 allows integers, too; the result is then truncated toward zero.
template <class V>
HWY_INLINE V apply(op::Erf, V x) {
  if constexpr (std::is_integral_v<V>) return V(std::erf(double(x)));
  else return erf(x);
}

// --- activations ---

template <class V>
HWY_INLINE V apply(op::Sigmoid, V x) {
  return sigmoid(x);
}
template <class V>
HWY_INLINE V apply(op::Elu, V x, V alpha) {
  return select(x < V(0), alpha * expm1(x), x);
}
template <class V>
HWY_INLINE V apply(op::Selu, V x, V alpha, V gamma) {
  return gamma * select(x > V(0), x, alpha * expm1(x));
}
template <class V>
HWY_INLINE V apply(op::Celu, V x, V alpha) {
  return select(x < V(0), alpha * expm1(x / alpha), x);
}
template <class V>
HWY_INLINE V apply(op::Softplus, V x) {
  return select(x > V(0), x, V(0)) + log1p(exp(-abs(x)));
}
template <class V>
HWY_INLINE V apply(op::Softsign, V x) {
  return x / (V(1) + abs(x));
}
/// NaN gives 0, because it is not above alpha.
template <class V>
HWY_INLINE V apply(one_of<op::ThresholdedRelu, op::contrib::ThresholdedRelu> auto, V x, V alpha) {
  return select(x > alpha, x, V(0));
}
/// The activations Affine and ScaledTanh also exist as gates of recurrent networks.
template <class V>
HWY_INLINE V apply(one_of<op::contrib::Affine, form<op::RNN, "Affine">> auto, V x, V alpha, V beta) {
  return mul_add(alpha, x, beta);
}
template <class V>
HWY_INLINE V apply(op::contrib::ParametricSoftplus, V x, V alpha, V beta) {
  return alpha * apply(op::Softplus{}, beta * x);
}
template <class V>
HWY_INLINE V apply(op::contrib::Scale, V x, V scale) {
  return scale * x;
}
template <class V>
HWY_INLINE V apply(one_of<op::contrib::ScaledTanh, form<op::RNN, "ScaledTanh">> auto, V x, V alpha, V beta) {
  return alpha * tanh(beta * x);
}
template <class V>
HWY_INLINE V apply(op::HardSwish, V x) {
  return x * between_zero_and_one(mul_add(x, V(1.0f) / V(6), V(0.5f)));
}
/// x * tanh(log(1 + exp(x))). With e = exp(x), the tanh is ((1 + e)^2 - 1) / ((1 + e)^2 + 1).
template <class V>
HWY_INLINE V apply(op::Mish, V x) {
  const V limit(20), e = exp(select(x > limit, limit, x)), w = e * (e + V(2));  // (1 + e)^2 - 1; from 20 on Mish is x
  return x * (w / (w + V(2)));
}
template <class V>
HWY_INLINE V apply(one_of<op::Swish, op::microsoft::QuickGelu> auto, V x, V alpha) {
  return x * sigmoid(alpha * x);
}
template <class V>
HWY_INLINE V apply(one_of<op::Gelu, op::microsoft::Gelu> auto, V x) {
  return gelu(x);
}
/// Gelu whose `approximate` is "tanh".
template <class V>
HWY_INLINE V apply(form<op::Gelu, "tanh">, V x) {
  return gelu_by_tanh(x);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions
HWY_AFTER_NAMESPACE();
