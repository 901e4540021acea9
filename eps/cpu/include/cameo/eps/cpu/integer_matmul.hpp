#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/integer_factor.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// MatMulInteger: Y = (A - a_zero) * (B - b_zero) in int32, for stacks of matrices as in numpy; sums wrap around. A
/// zero point is one number, one per row of A or column of B, or one per row or column of each matrix of the stack.
struct matmul_integer {
  integer_factor b = {};
  static result<matmul_integer> bind(bind_context& c) {
    const result<integer_factor> b = integer_factor::bind(c, 1, 3, 2);
    if (!b) return b.error();
    return matmul_integer{*b};
  }
  status run(run_context&) const;
};

/// QLinearMatMul: the sums of MatMulInteger, exact in int32, times a_scale * b_scale / y_scale, rounded with ties to
/// even, plus y's zero point, saturated to y's type. Scales broadcast as the zero points do, y's scale over rows.
struct qlinear_matmul {
  integer_factor b = {};
  static result<qlinear_matmul> bind(bind_context& c) {
    const result<integer_factor> b = integer_factor::bind(c, 3, 5, 2);
    if (!b) return b.error();
    return qlinear_matmul{*b};
  }
  status run(run_context&) const;
};

/// QLinearMatMul if a, b or y are 8-bit floats: plain loops in float. The result is rounded to y's type and saturated
/// to its largest number.
struct qlinear_matmul_of_floats {
  static status run(run_context&);
};

/// QLinearMatMul since version 21, which allows integers and 8-bit floats.
struct qlinear_matmul_of_codes {
  using elements =
      detail::element_set<std::uint8_t, std::int8_t, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz>;
  qlinear_matmul integers = {};
  bool of_integers = true;

  static result<qlinear_matmul_of_codes> bind(bind_context&);
  status run(run_context& c) const { return of_integers ? integers.run(c) : qlinear_matmul_of_floats::run(c); }
};

}  // namespace CAMEO_NAMESPACE::eps
