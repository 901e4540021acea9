#pragma once
#include <cameo/eps/cpu/unary.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// The loop of operator F for float, or for double.
template <class F>
unary_row float_loop(dtype type) {
  return type == dtype::f64 ? map_loop<F, double>() : map_loop<F, float>();
}
/// Applies operator F to floats, for kernels that need it as a part of their computation. y may be x. It is compiled
/// for the operators that such kernels use.
template <class F>
void map_floats(const float* x, float* y, std::int64_t n, const unary_parameters& = {});

/// Calls use(i, f(make(i))) for i below n, where f is operator F on elements of C. It works block by block, so that f
/// is computed with vectors and no other memory is needed.
template <class F, class C, class Make, class Use>
void map_values(std::int64_t n, const unary_parameters& parameters, const Make& make, const Use& use) {
  constexpr std::int64_t most = 256;
  const unary_row row = map_loop<F, C>();
  C values[most];
  for (std::int64_t first = 0; first < n; first += most) {
    const std::int64_t count = std::min(most, n - first);
    for (std::int64_t i = 0; i < count; ++i) values[i] = make(first + i);
    row(parameters, values, values, count);
    for (std::int64_t i = 0; i < count; ++i) use(first + i, values[i]);
  }
}

}  // namespace CAMEO_NAMESPACE::eps
