#pragma once
#include <cameo/eps/cpu/unary.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// The loop over floats, or over doubles.
template <class F>
unary_row float_loop(dtype type) {
  return type == dtype::f64 ? map_loop<F, double>() : map_loop<F, float>();
}
/// The loop over floats, for kernels that apply an operator to what they made. y may be x. Compiled for those operators
/// that such kernels name.
template <class F>
void map_floats(const float* x, float* y, std::int64_t n, const unary_parameters& = {});

/// use(i, f(make(i))) for i below n, where f is the operator F on numbers of C: block by block, so that vectors compute
/// it and nothing else needs memory.
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
