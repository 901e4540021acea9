#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/integer_factor.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MatMulIntegerToFloat: Y = (A - a_zero) * (B - b_zero) * (a_scale * b_scale) + bias. Sums are exact
/// in int32 and wrap around; each step in float is rounded. A has one scale and zero point; B has one, or one per
/// column; the bias has one number per column. Stacks of matrices broadcast as in numpy. Scratch: a converted copy of A
/// if the loops in use need it in another layout.
struct matmul_integer_to_float {
  using elements = detail::element_set<float>;  // of scales, bias and Y
  integer_factor b = {};
  static result<matmul_integer_to_float> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's DynamicQuantizeMatMul: quantizes A from float to uint8, with the one scale and zero point that
/// DynamicQuantizeLinear computes for all of A, and then computes MatMulIntegerToFloat. Scratch: the quantized A.
struct dynamic_quantize_matmul {
  using elements = detail::element_set<std::uint8_t, std::int8_t>;  // of B
  integer_factor b = {};
  static result<dynamic_quantize_matmul> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's MatMulInteger16: Y = A * B of 16-bit integers, in int32 or uint32; sums wrap around.
struct matmul_integer16 {
  using elements = detail::element_set<std::uint16_t, std::int16_t>;
  static result<matmul_integer16> bind(bind_context&) { return matmul_integer16{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
