// exp, tanh, sin, cos and erf of doubles, once per instruction set: what common/math-inl.hpp is for floats.
// Coefficients without a name interpolate at Chebyshev's points, and their own errors are below 2^-57.
#if defined(CAMEO_EPS_CPU_DOUBLES) == defined(HWY_TARGET_TOGGLE)
#ifdef CAMEO_EPS_CPU_DOUBLES
#undef CAMEO_EPS_CPU_DOUBLES
#else
#define CAMEO_EPS_CPU_DOUBLES
#endif
#include "vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cameo::inline CAMEO_ABI::eps {
namespace HWY_NAMESPACE {
namespace functions {

/// The coefficients begin with the highest power's.
template <class... Rest>
HWY_INLINE lanes<double> polynomial(lanes<double> x, double highest, Rest... rest) {
  lanes<double> made(highest);
  ((made = mul_add(made, x, lanes<double>(rest))), ...);
  return made;
}

using bits_tag = hn::RebindToUnsigned<lanes<double>::tag>;
using bits = hn::Vec<bits_tag>;
HWY_INLINE bits bits_of(lanes<double> x) { return hn::BitCast(bits_tag{}, x.v); }
HWY_INLINE lanes<double> from_bits(bits x) { return hn::BitCast(lanes<double>::tag{}, x); }

/// A number below 2^50 in size, rounded to a whole one. The lowest bits of `shifted` are those of the whole number plus
/// `more`: from 2^52 on the mantissa has no places behind the point.
struct whole {
  lanes<double> shifted, number;
};
HWY_INLINE whole rounded(lanes<double> x, double factor, int more = 0) {
  const lanes<double> shift(6755399441055744. + more),
      shifted = mul_add(x, lanes<double>(factor), shift);  // 1.5 * 2^52
  return {shifted, shifted - shift};
}
/// a - b * c
HWY_INLINE lanes<double> minus_product(lanes<double> a, lanes<double> b, lanes<double> c) {
  return hn::NegMulAdd(b.v, c.v, a.v);
}
HWY_INLINE lanes<double> minus_product(lanes<double> a, lanes<double> b, double c) {
  return minus_product(a, b, lanes<double>(c));
}

/// exp(x) = 2^n * (1 + rest), |rest| <= 0.42; the lowest bits of `exponent` are n + more. For |x| <= 800 and NaN.
struct power {
  bits exponent;
  lanes<double> rest;
};
HWY_INLINE power split_exp(lanes<double> x, int more) {
  const whole n = rounded(x, 1.4426950408889634, more);
  const lanes<double> high = minus_product(x, n.number, 0.693147180559663);  // exact: log(2) to 41 bits
  const lanes<double> r = minus_product(high, n.number, 2.8235290563031577e-13);
  const lanes<double> p =
      polynomial(r, 2.510038549551032e-08, 2.7620088445409746e-07, 2.7557268459997064e-06, 2.4801521295954376e-05,
                 0.00019841269863053618, 0.0013888888917213717, 0.008333333333330062, 0.04166666666662413,
                 0.16666666666666669, 0.5000000000000001);
  return {bits_of(n.shifted), mul_add(r * r, p, r)};
}
constexpr int bias = 1023;  // of exponents: 2^k has the bits of k + bias
HWY_INLINE lanes<double> power_of_two(bits biased) { return from_bits(hn::ShiftLeft<52>(biased)); }

HWY_INLINE lanes<double> exp(lanes<double> x) {
  const lanes<double> low(-750), high(710);  // what is beyond is 0 and infinity like these
  const power e = split_exp(select(x < low, low, select(x > high, high, x)), 2 * bias);
  const bits half =
      hn::ShiftRight<1>(e.exponent);  // in two steps, so that neither over- nor underflows before its time
  return (lanes<double>(1) + e.rest) * power_of_two(half) * power_of_two(hn::Sub(e.exponent, half));
}
/// exp(x) for |x| <= 700.
HWY_INLINE lanes<double> exp_within(lanes<double> x) {
  const power e = split_exp(x, bias);
  const lanes<double> scale = power_of_two(e.exponent);
  return mul_add(scale, e.rest, scale);
}
/// By exp(2 |x|) - 1, in which nothing cancels.
HWY_INLINE lanes<double> tanh(lanes<double> x) {
  using v = lanes<double>;
  const v most(20), size = select(abs(x) > most, most, abs(x));  // from where on the result is 1
  const power e = split_exp(size + size, bias);
  const v scale = power_of_two(e.exponent), m = mul_add(scale, e.rest, scale - v(1));
  return copy_sign(m / (m + v(2)), x);
}
/// log(1 + x) for 0 <= x <= 1: as log(2) + log(1 + (x - 1) / 2) where that is nearer to 1.
HWY_INLINE lanes<double> log1p(lanes<double> x) {
  using v = lanes<double>;
  const auto is_far = x > v(0.41421356237309503);
  const v f = select(is_far, (x - v(1)) * v(0.5), x), s = f / (f + v(2)), square = s * s;  // f = 2 s / (1 - s)
  const v p = polynomial(square, 0.13088034850927555, 0.13268638369266825, 0.15386244737621665, 0.18181795547521137,
                         0.22222222392581045, 0.28571428570799784, 0.40000000000000885, 0.6666666666666666);
  const v made = minus_product(f, s, minus_product(f, square, p));
  return select(is_far, made + v(0.69314718055994530942), made);
}

/// sin(r) for |r| <= pi / 2, with the sign turned where the lowest bit of `turns` is set.
HWY_INLINE lanes<double> turned_sine(lanes<double> r, bits turns) {
  const lanes<double> square = r * r;
  const lanes<double> p =
      polynomial(square, 2.7314368769379893e-15, -7.643969663988074e-13, 1.6058977292642743e-10, -2.505210761669045e-08,
                 2.7557319219160833e-06, -0.00019841269841254966, 0.008333333333333316, -0.16666666666666666);
  return from_bits(hn::Xor(bits_of(mul_add(r * square, p, r)), hn::ShiftLeft<63>(turns)));
}
/// x - n * pi, for |x| <= 39000: the first two parts of pi have 33 bits, so that their products are exact.
HWY_INLINE lanes<double> without_halves(lanes<double> x, lanes<double> n) {
  const lanes<double> first = minus_product(x, n, 3.1415926534682512);
  return minus_product(minus_product(first, n, 1.2154201012607932e-10), n, 4.044532497591901e-21);
}
HWY_INLINE lanes<double> sine(lanes<double> x) {
  const whole turns = rounded(x, 0.3183098861837907);
  return turned_sine(without_halves(x, turns.number), bits_of(turns.shifted));
}
/// cos(x) is sin(r) or -sin(r) where x = (n - 1/2) pi + r.
HWY_INLINE lanes<double> cosine(lanes<double> x) {
  using v = lanes<double>;
  const whole turns = rounded(mul_add(x, v(0.3183098861837907), v(0.5)), 1);
  return turned_sine(without_halves(x, turns.number - v(0.5)), bits_of(turns.shifted));
}

/// Below 15/32 a polynomial of x^2. Above, Cody's quotient of polynomials of |x| for (1 - erf(|x|)) * exp(x^2)
/// (Rational Chebyshev approximations for the error function, 1969).
HWY_INLINE lanes<double> erf(lanes<double> x) {
  using v = lanes<double>;
  const v square = x * x, size = select(abs(x) > v(6), v(6), abs(x));  // erf(6) is 1
  const v near = polynomial(square, 1.4925204011191628e-06, -1.4863410098556598e-05, 0.00012053961710478954,
                            -0.000854830935256066, 0.005223977491433374, -0.026866170639416324, 0.11283791670942908,
                            -0.37612638903183654, 1.1283791670955126);
  const v above = polynomial(size, 2.15311535474403846e-8, 0.564188496988670089, 8.88314979438837594,
                             66.1191906371416295, 298.635138197400131, 881.952221241769090, 1712.04761263407058,
                             2051.07837782607147, 1230.33935479799725);
  const v below =
      polynomial(size, 1.0, 15.7449261107098347, 117.693950891312499, 537.181101862009858, 1621.38957456669019,
                 3290.79923573345963, 4362.61909014324716, 3439.36767414372164, 1230.33935480374942);
  const v far = minus_product(v(1), exp_within(-(size * size)), above / below);
  return select(abs(x) < v(0.46875), x * near, copy_sign(far, x));
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace cameo::inline CAMEO_ABI::eps
HWY_AFTER_NAMESPACE();
#endif
