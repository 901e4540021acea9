#pragma once
#include <cameo/eps/cpu/unary.hpp>

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// The loop over floats, or over doubles.
template <class F>
unary_row float_loop(dtype type) {
  return type == dtype::f64 ? map_loop<F, double>() : map_loop<F, float>();
}
/// The loop over floats, for kernels that apply an operator to what they made. y may be x. Compiled for those operators
/// that such kernels name.
template <class F>
void map_floats(const float* x, float* y, std::int64_t n, const unary_parameters& = {});

}  // namespace eps
CAMEO_END_NAMESPACE
