#pragma once
#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// The mean, and the mean squared distance from it.
struct moments {
  double mean = 0, variance = 0;
};

/// The sum of f(x[i]) in double. There are eight partial sums, so that they are a vector and their order never changes.
template <class C, class F>
double sum_of(const C* x, std::int64_t n, F f) {
  constexpr std::int64_t lanes = 8;
  double sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) sums[l] += f(double(x[i + l]));
  for (; i < n; ++i) sums[i % lanes] += f(double(x[i]));
  for (std::int64_t step = lanes / 2; step > 0; step /= 2)
    for (std::int64_t l = 0; l < step; ++l) sums[l] += sums[l + step];
  return sums[0];
}

/// The moments of n contiguous elements, in two passes, which keeps small variances of large numbers exact.
template <class C>
moments moments_of(const C* x, std::int64_t n) {
  const double mean = sum_of(x, n, [](double v) { return v; }) / double(n);
  return {mean, sum_of(x, n, [mean](double v) { return (v - mean) * (v - mean); }) / double(n)};
}

/// y[i] = (x[i] - mean) * scale + shift. y may be x. The difference is computed first, and then the digits of the mean
/// that C cannot represent are subtracted: x * scale and mean * scale may be large and nearly equal.
template <class C>
void center_and_scale(const C* x, C* y, std::int64_t n, double mean, double scale, double shift) {
  const C high = C(mean), low = C(mean - double(high)), a = C(scale), b = C(shift);
  for (std::int64_t i = 0; i < n; ++i) y[i] = ((x[i] - high) - low) * a + b;
}

/// y[i] = x[i] * scale + shift. y may be x.
template <class C>
void scale_and_shift(const C* x, C* y, std::int64_t n, double scale, double shift) {
  const C a = C(scale), b = C(shift);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * a + b;
}

}  // namespace CAMEO_NAMESPACE::eps
