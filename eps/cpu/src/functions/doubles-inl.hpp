// Vector functions exp, tanh, sin, cos, atan and erf of double, compiled once per instruction set; math-inl.hpp has
// those of float. Polynomials and quotients without a source are interpolations at Chebyshev nodes or minimax
// approximations (Remez exchange), with approximation errors below 2^-57.
#include "vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions {

/// A polynomial in x; the coefficients are given from the highest power on. If the highest coefficient is 1, `highest`
/// is x plus the next coefficient, which saves a multiplication; quotients are scaled so that this applies.
template <class Highest, class... Rest>
HWY_INLINE lanes<double> polynomial(lanes<double> x, Highest highest, Rest... rest) {
  lanes<double> made(highest);
  ((made = mul_add(made, x, lanes<double>(rest))), ...);
  return made;
}

using bits_tag = hn::RebindToUnsigned<lanes<double>::tag>;
using bits = hn::Vec<bits_tag>;
HWY_INLINE bits bits_of(lanes<double> x) { return hn::BitCast(bits_tag{}, x.v); }
HWY_INLINE lanes<double> from_bits(bits x) { return hn::BitCast(lanes<double>::tag{}, x); }

/// A number below 2^50 in magnitude, rounded to an integer. The lowest bits of `shifted` are those of the integer plus
/// `more`, because a double from 2^52 on has no fractional bits.
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

/// exp(x) = 2^n * (1 + rest), |rest| <= 0.42; the lowest bits of `exponent` are n + more. Valid for |x| <= 800 and NaN.
struct power {
  bits exponent;
  lanes<double> rest;
};
HWY_INLINE power split_exp(lanes<double> x, int more) {
  const whole n = rounded(x, 1.4426950408889634, more);
  const lanes<double> high = minus_product(x, n.number, 0.693147180559663);  // exact, as this log(2) has 41 bits
  const lanes<double> r = minus_product(high, n.number, 2.8235290563031577e-13);
  const lanes<double> p =
      polynomial(r, 2.510038549551032e-08, 2.7620088445409746e-07, 2.7557268459997064e-06, 2.4801521295954376e-05,
                 0.00019841269863053618, 0.0013888888917213717, 0.008333333333330062, 0.04166666666662413,
                 0.16666666666666669, 0.5000000000000001);
  return {bits_of(n.shifted), mul_add(r * r, p, r)};
}
constexpr int bias = 1023;  // of the exponents of double: 2^k has the exponent bits k + bias
HWY_INLINE lanes<double> power_of_two(bits biased) { return from_bits(hn::ShiftLeft<52>(biased)); }

HWY_INLINE lanes<double> exp(lanes<double> x) {
  const lanes<double> low(-750), high(710);  // results beyond these are 0 and infinity, as at these
  const power e = split_exp(select(x < low, low, select(x > high, high, x)), 2 * bias);
  // The power of two is applied in two steps, so that neither factor overflows or underflows unless the result does.
  const bits half = hn::ShiftRight<1>(e.exponent);
  return (lanes<double>(1) + e.rest) * power_of_two(half) * power_of_two(hn::Sub(e.exponent, half));
}

/// tanh(r / 2) = odd / even for |r| <= log(2) / 2, so that exp(r) = (even + odd) / (even - odd). This takes five
/// products instead of the eleven of a polynomial. There is no division here: functions that divide anyway put odd and
/// even into their quotients.
struct tangent {
  lanes<double> odd, even;
};
HWY_INLINE tangent half_tanh(lanes<double> r) {
  const lanes<double> square = r * r;
  return {r * polynomial(square, square + lanes<double>(420.27272860527586), 15131.456033293109),
          polynomial(square, 30.01363245689308, 3362.4547960926757, 30262.912066586217)};
}
constexpr double log_of_two = 0.693147180559945309417;

/// Computed as m / (m + 2) with m = exp(2 |x|) - 1 = 2^n * exp(r) - 1, where numerator and denominator are multiplied
/// by even - odd. Nothing cancels for n = 0. The error of log(2) as one number, n times, is small beside 1 - tanh(x)^2.
HWY_INLINE lanes<double> tanh(lanes<double> x) {
  using v = lanes<double>;
  const v most(20), size = select(abs(x) > most, most, abs(x)), twice = size + size;  // from 20 on the result is 1
  const whole n = rounded(twice, 1.4426950408889634, bias);
  const tangent t = half_tanh(minus_product(twice, n.number, log_of_two));
  const v scale = power_of_two(bits_of(n.shifted));
  const v above = mul_add(t.even, scale - v(1), t.odd * (scale + v(1))), rest = t.even - t.odd;
  return copy_sign(above / (above + (rest + rest)), x);
}
/// log(1 + x) for 0 <= x <= 1; computed as log(2) + log(1 + (x - 1) / 2) if that argument is nearer to 1.
HWY_INLINE lanes<double> log1p(lanes<double> x) {
  using v = lanes<double>;
  const auto is_far = x > v(0.41421356237309503);
  const v f = select(is_far, (x - v(1)) * v(0.5), x), s = f / (f + v(2)), square = s * s;  // f = 2 s / (1 - s)
  const v p = polynomial(square, 0.13088034850927555, 0.13268638369266825, 0.15386244737621665, 0.18181795547521137,
                         0.22222222392581045, 0.28571428570799784, 0.40000000000000885, 0.6666666666666666);
  const v made = minus_product(f, s, minus_product(f, square, p));
  return select(is_far, made + v(0.69314718055994530942), made);
}

/// sin(r) for |r| <= pi / 2, with the sign inverted if the lowest bit of `half_turns` is set.
HWY_INLINE lanes<double> signed_sine(lanes<double> r, bits half_turns) {
  const lanes<double> square = r * r;
  const lanes<double> p =
      polynomial(square, 2.7314368769379893e-15, -7.643969663988074e-13, 1.6058977292642743e-10, -2.505210761669045e-08,
                 2.7557319219160833e-06, -0.00019841269841254966, 0.008333333333333316, -0.16666666666666666);
  return from_bits(hn::Xor(bits_of(mul_add(r * square, p, r)), hn::ShiftLeft<63>(half_turns)));
}
/// x - n * pi for |x| <= 39000. The first two summands of pi have 33 bits, so that their products are exact.
HWY_INLINE lanes<double> without_half_turns(lanes<double> x, lanes<double> n) {
  const lanes<double> first = minus_product(x, n, 3.1415926534682512);
  return minus_product(minus_product(first, n, 1.2154201012607932e-10), n, 4.044532497591901e-21);
}
HWY_INLINE lanes<double> sine(lanes<double> x) {
  const whole half_turns = rounded(x, 0.3183098861837907);
  return signed_sine(without_half_turns(x, half_turns.number), bits_of(half_turns.shifted));
}
/// cos(x) is sin(r) or -sin(r) where x = (n - 1/2) pi + r.
HWY_INLINE lanes<double> cosine(lanes<double> x) {
  using v = lanes<double>;
  const whole half_turns = rounded(mul_add(x, v(0.3183098861837907), v(0.5)), 1);
  return signed_sine(without_half_turns(x, half_turns.number - v(0.5)), bits_of(half_turns.shifted));
}

/// tan(pi / 8) and its reciprocal bound three ranges of a = |x|: atan(a) is atan(a), pi / 4 + atan((a - 1) / (a + 1))
/// or pi / 2 + atan(-1 / a). Masks select the terms of numerator and denominator, so that all three share one division.
HWY_INLINE lanes<double> atan(lanes<double> x) {
  using v = lanes<double>;
  const v a = abs(x), one(1), quarter(0.78539816339744830962);
  const auto beyond = a > v(0.41421356237309503), far = a > v(2.414213562373095);
  const v above = v(hn::IfThenZeroElse(far, a.v)) - v(hn::IfThenElseZero(beyond, one.v));
  const v below = v(hn::IfThenElseZero(beyond, a.v)) + v(hn::IfThenZeroElse(far, one.v));
  const v begin = v(hn::IfThenElseZero(beyond, quarter.v)) + v(hn::IfThenElseZero(far, quarter.v));
  const v t = above / below, square = t * t, fourth = square * square;
  const v even = polynomial(fourth, -0.017920755639366095, -0.050397930113428344, -0.06663118863041703,
                            -0.0909089782941103, -0.1428571428024406, -0.333333333333332);
  const v odd = polynomial(fourth, 0.038076957367565764, 0.05847997544950707, 0.07692061507383693, 0.11111110785903253,
                           0.1999999999995404);
  return copy_sign(begin + mul_add(t * square, mul_add(odd, square, even), t), x);
}

/// Below 0.48, where erf is one half, a polynomial of x^2. Above, (1 - erf(|x|)) * exp(x^2) is a quotient of
/// polynomials of |x|. The quotient minimizes the error of 1 - erf, so that its own error may grow with exp(x^2).
HWY_INLINE lanes<double> erf(lanes<double> x) {
  using v = lanes<double>;
  const v a = abs(x), size = hn::Min(v(6).v, a.v), square = size * size;  // erf(6) is 1
  const v near = polynomial(square, 1.4855273118430746e-06, -1.485751211741358e-05, 0.00012053760512242138,
                            -0.0008548305796784875, 0.005223977456826931, -0.026866170637600172, 0.11283791670938267,
                            -0.3761263890318361, 1.1283791670955126);
  const v above = polynomial(size, 0.5641921534542439, 7.351745647772821, 44.59160912110367, 159.66858764918965,
                             357.01221475457277, 478.750793648879, 320.475981717858);
  const v below = polynomial(size, size + v(13.030784372059776), 79.53402510253521, 289.54766320468394,
                             671.5963694267393, 984.7913460704766, 840.3692152160216, 320.4759817028969);
  const whole n = rounded(square, -1.4426950408889634, bias);
  const tangent t = half_tanh(mul_add(n.number, v(log_of_two), square));  // exp(-x^2) = 2^n * exp(-r)
  const v rest = (t.even - t.odd) * above / ((t.even + t.odd) * below);
  const v far = minus_product(v(1), power_of_two(bits_of(n.shifted)), rest);
  return select(a > v(0.48), copy_sign(far, x), x * near);  // NaN selects the second, which propagates it
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions
HWY_AFTER_NAMESPACE();
