#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/integer_factor.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Y = (A - a_zero) * (B - b_zero) in int32, as numpy multiplies stacks of matrices; sums wrap. A zero point is one
/// number, one per row of A, one per column of B, or one per row (column) of each matrix of the stack.
struct matmul_integer {
  integer_factor b = {};
  static result<matmul_integer> bind(bind_context& c) {
    const result<integer_factor> b = integer_factor::bind(c, 1, 3, 2);
    if (!b) return b.error();
    return matmul_integer{*b};
  }
  status run(run_context&) const;
};

/// The same on quantized tensors: the sums, exact in int32, times a_scale * b_scale / y_scale, rounded with ties to
/// even, plus y's zero point, saturated to y's type. Scales broadcast as the zero points do, y's over rows.
struct qlinear_matmul {
  integer_factor b = {};
  static result<qlinear_matmul> bind(bind_context& c) {
    const result<integer_factor> b = integer_factor::bind(c, 3, 5, 2);
    if (!b) return b.error();
    return qlinear_matmul{*b};
  }
  status run(run_context&) const;
};

/// QLinearMatMul where a, b or y are floats of 8 bits: by plain loops, in float, and rounded to y's type, where what is
/// too large becomes its largest number.
struct qlinear_matmul_of_floats {
  static status run(run_context&);
};

/// QLinearMatMul since version 21: the one or the other.
struct qlinear_matmul_of_codes {
  using elements =
      detail::element_set<std::uint8_t, std::int8_t, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz>;
  qlinear_matmul integers = {};
  bool of_integers = true;

  static result<qlinear_matmul_of_codes> bind(bind_context&);
  status run(run_context& c) const { return of_integers ? integers.run(c) : qlinear_matmul_of_floats::run(c); }
};

}  // namespace CAMEO_NAMESPACE::eps
