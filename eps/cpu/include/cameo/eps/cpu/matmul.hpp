#pragma once
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Y = alpha * A * B over the last two axes; all other axes broadcast. This is ONNX's MatMul (numpy's matmul, with
/// operands of one axis too) and com.microsoft's FusedMatMul, which may transpose the last two axes of either operand,
/// or move its first axis behind the batch axes. A constant B without batch axes is packed once. float16 and bfloat16
/// are computed in float; integers wrap around.
template <class T>
struct matmul {
  static constexpr bool instantiated =
      is_one_of<T, float, double, float16, bfloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  using number = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

  float alpha = 1;
  bool transpose_a = false, transpose_b = false, batch_a = false, batch_b = false;
  gemm_panels<T> packed_b = {};
  const std::uint32_t* bf16_b = nullptr;  // replaces packed_b if ep.cpu.math selects bfloat16 for the node

  static result<matmul> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
