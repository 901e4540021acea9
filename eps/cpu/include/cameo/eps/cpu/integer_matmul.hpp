#pragma once
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// Y = (A - a_zero) * (B - b_zero) in int32, as numpy multiplies stacks of matrices; sums wrap. A zero point is one
/// number, one per row of A, one per column of B, or one per row (column) of each matrix of the stack.
struct matmul_integer {
  static result<matmul_integer> bind(bind_context&) { return matmul_integer{}; }
  status run(run_context&) const;
};

/// The same on quantized tensors: the sums, exact in int32, times a_scale * b_scale / y_scale, rounded with ties to
/// even, plus y's zero point, saturated to y's type. Scales broadcast as the zero points do, y's over rows.
struct qlinear_matmul {
  static result<qlinear_matmul> bind(bind_context&) { return qlinear_matmul{}; }
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
