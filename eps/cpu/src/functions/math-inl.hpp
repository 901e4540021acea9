// Elementary functions of vectors of float, compiled once per instruction set. The largest errors, in units in the last
// place, over every 61st float, with or without fused multiply-add (tested by eps/cpu/tests/math_test.cpp):
//   exp 1.2, exp_down 1.2 (results below 2^-125 are 0), tanh 2.6, sigmoid 2.6, erf 1.4.
// NaN gives NaN, infinities give the limits; results below the normal range are as exact as subnormal numbers can be.
#include <hwy/highway.h>

#include <cameo/core/abi.hpp>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::math {
namespace hn = hwy::HWY_NAMESPACE;

using tag = hn::ScalableTag<float>;
using whole_tag = hn::RebindToSigned<tag>;
using vec = hn::Vec<tag>;

HWY_INLINE vec set(float x) { return hn::Set(tag{}, x); }
/// y, or NaN if x is NaN.
HWY_INLINE vec keep_nan(vec x, vec y) { return hn::IfThenElse(hn::Eq(x, x), y, x); }

/// x = count * log(2) + rest, |rest| <= log(2) / 2, for |x| below 2^15. `shifted` has the count in its lowest bits.
struct split {
  vec shifted, count, rest;
};
HWY_INLINE split split_by_log2(vec x) {
  const vec round = set(12582912.0f);  // 1.5 * 2^23: a sum with it has no fractional bits
  const vec shifted = hn::MulAdd(x, set(1.44269504f), round), count = hn::Sub(shifted, round);
  const vec rest = hn::NegMulAdd(count, set(0.693359375f), x);  // exact: log(2) to 9 bits; the next line has the rest
  return {shifted, count, hn::MulAdd(count, set(2.12194440e-4f), rest)};  // a list, as g++ for NEON has no empty vector
}
/// A polynomial in x; the coefficients are given from the highest power on.
template <class... Rest>
HWY_INLINE vec polynomial(vec x, float highest, Rest... rest) {
  vec made = set(highest);
  ((made = hn::MulAdd(made, x, set(rest))), ...);
  return made;
}
/// exp(r) - 1 for |r| <= log(2) / 2; the approximation error is 2^-28.
HWY_INLINE vec small_expm1(vec r) {
  const vec p = polynomial(r, 0.00139505032f, 0.00836889632f, 0.041666206f, 0.166665182f, 0.5f);
  return hn::MulAdd(hn::Mul(r, r), p, r);
}
/// 2^count, if that is in the normal range.
HWY_INLINE vec power_of_two(const split& s) {
  const auto count = hn::ShiftLeft<23>(hn::BitCast(whole_tag{}, s.shifted));
  return hn::BitCast(tag{}, hn::Add(count, hn::Set(whole_tag{}, 0x3F800000)));
}
/// 2^k for k in [-126, 127].
HWY_INLINE vec power_of_two(hn::Vec<whole_tag> k) {
  return hn::BitCast(tag{}, hn::ShiftLeft<23>(hn::Add(k, hn::Set(whole_tag{}, 127))));
}

HWY_INLINE vec exp(vec x) {
  const split s = split_by_log2(hn::Min(hn::Max(x, set(-104.0f)), set(89.0f)));
  const vec e = hn::Add(small_expm1(s.rest), set(1.0f));
  const auto count = hn::ConvertTo(whole_tag{}, s.count);
  const auto half = hn::ShiftRight<1>(count);  // two steps: neither factor overflows or underflows unless e does
  return keep_nan(x, hn::Mul(hn::Mul(e, power_of_two(half)), power_of_two(hn::Sub(count, half))));
}
/// exp(x) for x <= 0, with very small results rounded to 0: the weights of a softmax.
HWY_INLINE vec exp_down(vec x) {
  const split s = split_by_log2(x);
  const vec e = hn::Add(small_expm1(s.rest), set(1.0f));
  return hn::IfThenZeroElse(hn::Lt(x, set(-86.6f)), hn::Mul(e, power_of_two(s)));
}
HWY_INLINE vec tanh(vec x) {
  const vec a = hn::Min(hn::Abs(x), set(9.1f));  // from 9.1 on the result is 1
  const split s = split_by_log2(hn::Add(a, a));
  const vec scale = power_of_two(s);
  const vec m = hn::MulAdd(scale, small_expm1(s.rest), hn::Sub(scale, set(1.0f)));  // exp(2a) - 1
  return keep_nan(x, hn::CopySignToAbs(hn::Div(m, hn::Add(m, set(2.0f))), x));
}
HWY_INLINE vec sigmoid(vec x) {
  const vec one = set(1.0f), e = math::exp(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(tag{})), e, one), hn::Add(one, e));
}

/// erf(x) / x - 1 for |x| <= 1; the approximation error is 2^-29.
HWY_INLINE vec small_erf(vec x) {
  return polynomial(hn::Mul(x, x), 7.93311701e-5f, -8.03503441e-4f, 5.19129215e-3f, -0.0268554837f, 0.112836301f,
                    -0.376126319f, 0.12837917f);
}
/// 1 - erf(a) for a >= 1, as exp of a polynomial, with an absolute error of 2^-29; 0 from 4 on.
HWY_INLINE vec rest_of_erf(vec a) {
  const vec p = polynomial(a, 1.85694633e-4f, -2.94084009e-3f, 0.0218104534f, -0.103048533f, -0.638212323f,
                           -1.12704837f, -3.51579947e-4f);
  return hn::IfThenZeroElse(hn::Gt(a, set(4.0f)), exp_down(hn::Max(p, set(-80.0f))));
}
HWY_INLINE vec erf(vec x) {
  const vec a = hn::Abs(x), far = hn::CopySignToAbs(hn::Sub(set(1.0f), rest_of_erf(a)), x);
  const vec near = hn::MulAdd(small_erf(x), x, x);
  return keep_nan(x, hn::IfThenElse(hn::Lt(a, set(1.0f)), near, far));
}
/// x / 2 * (1 + erf(x / sqrt(2))): x times the probability that a standard normal number is below x. The probability
/// below
/// -|x| is a power of two whose exponent is a polynomial, with an absolute error of 2^-27, and 0 from 4 * sqrt(2) on,
/// so that nothing cancels on either side. Even and odd powers are summed separately, which takes half as long. Minus
/// infinity gives NaN, as the formula does.
HWY_INLINE vec gelu(vec x) {
  const vec a = hn::Abs(x), square = hn::Mul(x, x), one = set(1.0f), round = set(12582912.0f);  // as split_by_log2()
  const vec odd = polynomial(square, 3.71771762e-7f, 6.37666963e-5f, -4.02321166e-5f, -0.0524607785f, -1.15110469f);
  const vec even = polynomial(square, -7.58306624e-6f, -2.51175952e-4f, 6.98296912e-3f, -0.459215373f, -1.0f);
  const vec p = hn::MulAdd(odd, a, even), shifted = hn::Add(p, round), count = hn::Sub(shifted, round);
  const vec rest = hn::Sub(p, count);
  const vec e =
      polynomial(rest, 1.53533620e-4f, 1.33988750e-3f, 9.61843692e-3f, 0.0555033237f, 0.240226477f, 0.693147182f, 1.0f);
  const vec below = hn::IfThenZeroElse(hn::Gt(a, set(5.65685425f)), hn::Mul(e, power_of_two({shifted, count, rest})));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(tag{})), below, hn::Sub(one, below)));
}
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), as x * sigmoid of twice that: nothing cancels.
HWY_INLINE vec gelu_by_tanh(vec x) {
  const vec cube = hn::Mul(hn::Mul(x, x), hn::Mul(x, set(0.044715f)));
  const vec inner = hn::Mul(set(1.59576912f), hn::Add(x, cube));
  return hn::Mul(x, sigmoid(inner));
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::math
HWY_AFTER_NAMESPACE();
