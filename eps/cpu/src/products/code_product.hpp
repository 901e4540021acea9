#pragma once
#include "integer_factor.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The operands of MatMulIntegerToFloat: quantized A and B with their scales, zero points (or none), and a bias (or
/// none).
struct scaled_codes {
  const value &a, &b, &a_scale, &b_scale, &a_zero, &b_zero, &bias;
};
/// Writes the product of A and B, with the bias, to `y`, which has the shape that numpy's matmul gives it, with at
/// least one element; `packed` is B, if it was packed while binding.
status multiply_to_floats(run_context&, const scaled_codes&, const integer_factor& packed, float* y);

}  // namespace CAMEO_NAMESPACE::eps
