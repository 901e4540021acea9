#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/integer_factor.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MatMulIntegerToFloat: Y = (A - a_zero) * (B - b_zero) * (a_scale * b_scale) + bias. Sums are exact
/// in int32 and wrap; each float step is rounded. A's scale and zero point are one number, B's one or one per column,
/// bias one per column. Stacks of matrices broadcast as numpy's do. Scratch: a conversion of A where its form asks for
/// one.
struct matmul_integer_to_float {
  using elements = detail::element_set<float>;  // scales, bias and Y
  integer_factor b = {};
  static result<matmul_integer_to_float> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's DynamicQuantizeMatMul: the same for A of floats, which becomes uint8 with the scale and zero point
/// that DynamicQuantizeLinear gives all of it. Scratch: A's codes.
struct dynamic_quantize_matmul {
  using elements = detail::element_set<std::uint8_t, std::int8_t>;  // B
  integer_factor b = {};
  static result<dynamic_quantize_matmul> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's MatMulInteger16: Y = A * B of 16 bits, in 32 bits; sums wrap.
struct matmul_integer16 {
  using elements = detail::element_set<std::uint16_t, std::int16_t>;
  static result<matmul_integer16> bind(bind_context&) { return matmul_integer16{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
