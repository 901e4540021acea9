// Elementary functions of vectors, compiled once per instruction set. Exp, tanh, sigmoid and erf are implemented here
// (math-inl.hpp, doubles-inl.hpp), and so are sine, cosine and atan of double; the others are Highway's, with errors of
// at most 4 units in the last place. Infinities and arguments outside of a function's domain give the results of the C
// library. The few arguments that the vector functions do not support (sines of more than 39000, powers next to
// overflow) are passed to the C library.
#include <hwy/contrib/math/math-inl.h>
#include <cameo/op/onnx.hpp>

#include "doubles-inl.hpp"

#include "math-inl.hpp"

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions {

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T no_number = std::numeric_limits<T>::quiet_NaN();
/// The largest argument of the vector functions exp, expm1 and sinh.
template <class T>
inline constexpr T largest_exponent = std::is_same_v<T, float> ? T(88) : T(706);

HWY_INLINE lanes<float> exp(lanes<float> x) { return math::exp(x.v); }
template <class T>
HWY_INLINE lanes<T> expm1(lanes<T> x) {
  return where_it_fits(x <= lanes<T>(largest_exponent<T>), x, lanes<T>(hn::Expm1(typename lanes<T>::tag{}, x.v)),
                       [](T v) { return std::expm1(v); });
}
template <class T>
HWY_INLINE lanes<T> log(lanes<T> x) {
  const lanes<T> zero(T(0)), most(infinity<T>);
  const lanes<T> outside = select(x == zero, -most, lanes<T>(no_number<T>));
  return select(x > zero, select(x < most, lanes<T>(hn::Log(typename lanes<T>::tag{}, x.v)), x), outside);
}
/// log(1 + x) for 0 <= x <= 1.
HWY_INLINE lanes<float> log1p(lanes<float> x) { return hn::Log1p(lanes<float>::tag{}, x.v); }
HWY_INLINE lanes<float> sine(lanes<float> x) { return hn::Sin(lanes<float>::tag{}, x.v); }
HWY_INLINE lanes<float> cosine(lanes<float> x) { return hn::Cos(lanes<float>::tag{}, x.v); }
template <class T>
HWY_INLINE lanes<T> apply(op::Sin, lanes<T> x) {
  return where_it_fits(abs(x) <= lanes<T>(T(39000)), x, select(x == lanes<T>(T(0)), x, sine(x)),
                       [](T v) { return std::sin(v); });
}
template <class T>
HWY_INLINE lanes<T> apply(op::Cos, lanes<T> x) {
  return where_it_fits(abs(x) <= lanes<T>(T(39000)), x, cosine(x), [](T v) { return std::cos(v); });
}
template <class T>
HWY_INLINE lanes<T> apply(op::Tan, lanes<T> x) {
  return where_it_fits(abs(x) <= lanes<T>(T(39000)), x, apply(op::Sin{}, x) / apply(op::Cos{}, x),
                       [](T v) { return std::tan(v); });
}
template <class T>
HWY_INLINE lanes<T> apply(op::Asin, lanes<T> x) {
  const lanes<T> made = hn::Asin(typename lanes<T>::tag{}, x.v);
  return select(abs(x) <= lanes<T>(T(1)), made, lanes<T>(no_number<T>));
}
template <class T>
HWY_INLINE lanes<T> apply(op::Acos, lanes<T> x) {
  const lanes<T> made = hn::Acos(typename lanes<T>::tag{}, x.v);
  return select(abs(x) <= lanes<T>(T(1)), made, lanes<T>(no_number<T>));
}
HWY_INLINE lanes<float> atan(lanes<float> x) {
  using v = lanes<float>;
  const v made = hn::Atan(v::tag{}, x.v), right_angle(1.57079632679489661923f);
  return select(abs(x) >= v(1 / std::numeric_limits<float>::epsilon()), copy_sign(right_angle, x), made);
}
template <class T>
HWY_INLINE lanes<T> apply(op::Atan, lanes<T> x) {
  return atan(x);
}
template <class T>
HWY_INLINE lanes<T> apply(op::Sinh, lanes<T> x) {
  return where_it_fits(abs(x) <= lanes<T>(largest_exponent<T>), x, lanes<T>(hn::Sinh(typename lanes<T>::tag{}, x.v)),
                       [](T v) { return std::sinh(v); });
}
template <class T>
HWY_INLINE lanes<T> apply(op::Cosh, lanes<T> x) {
  const lanes<T> half = lanes<T>(T(0.5)), e = exp(abs(x));
  return where_it_fits(abs(x) <= lanes<T>(largest_exponent<T>), x, half * e + half / e,
                       [](T v) { return std::cosh(v); });
}
HWY_INLINE lanes<float> tanh(lanes<float> x) { return math::tanh(x.v); }
template <class T>
HWY_INLINE lanes<T> apply(op::Asinh, lanes<T> x) {
  return select(abs(x) < lanes<T>(infinity<T>), lanes<T>(hn::Asinh(typename lanes<T>::tag{}, x.v)), x);
}
template <class T>
HWY_INLINE lanes<T> apply(op::Acosh, lanes<T> x) {
  const lanes<T> made = hn::Acosh(typename lanes<T>::tag{}, x.v);
  return select(x >= lanes<T>(T(1)), select(x < lanes<T>(infinity<T>), made, x), lanes<T>(no_number<T>));
}
template <class T>
HWY_INLINE lanes<T> apply(op::Atanh, lanes<T> x) {
  const lanes<T> one(T(1)), made = hn::Atanh(typename lanes<T>::tag{}, x.v);
  const lanes<T> outside = select(abs(x) == one, copy_sign(lanes<T>(infinity<T>), x), lanes<T>(no_number<T>));
  return select(abs(x) < one, made, outside);
}
HWY_INLINE lanes<float> erf(lanes<float> x) { return math::erf(x.v); }
HWY_INLINE lanes<float> sigmoid(lanes<float> x) { return math::sigmoid(x.v); }
HWY_INLINE lanes<double> sigmoid(lanes<double> x) {
  const lanes<double> one(1), e = exp(-abs(x));  // the power never overflows
  return select(x < lanes<double>(0), e, one) / (one + e);
}
/// x / 2 * (1 + erf(x / sqrt(2)))
HWY_INLINE lanes<float> gelu(lanes<float> x) { return math::gelu(x.v); }
HWY_INLINE lanes<double> gelu(lanes<double> x) {
  const lanes<double> half(0.5), one(1), root(0.70710678118654752440);
  return half * x * (one + erf(x * root));
}
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), as x * sigmoid of twice that: nothing cancels.
HWY_INLINE lanes<float> gelu_by_tanh(lanes<float> x) { return math::gelu_by_tanh(x.v); }
HWY_INLINE lanes<double> gelu_by_tanh(lanes<double> x) {
  const lanes<double> factor(1.59576912160573071176), cubes(0.044715);
  return x * sigmoid(factor * (x + x * x * (x * cubes)));
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions
HWY_AFTER_NAMESPACE();
