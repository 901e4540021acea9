#pragma once
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Y = alpha * A * B over the last two axes, the others broadcast: ONNX's MatMul (numpy's matmul, operands of one axis
/// included), and com.microsoft's FusedMatMul, which may transpose the last two axes of either operand, and move the
/// first axis behind the batch axes. A constant B without batch is packed once. Narrow floats compute in float;
/// integers wrap.
template <class T>
struct matmul {
  static constexpr bool instantiated =
      is_one_of<T, float, double, float16, bfloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  using number = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

  float alpha = 1;
  bool transpose_a = false, transpose_b = false, batch_a = false, batch_b = false;
  gemm_panels<T> packed_b = {};
  const std::uint32_t* bf16_b = nullptr;  // instead of those where ep.cpu.math asks for it

  static result<matmul> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
