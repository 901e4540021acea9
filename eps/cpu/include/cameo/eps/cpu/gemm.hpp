#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Y [M, N] = f(alpha * A' * B' + beta * C): ONNX's Gemm, where f is none. A' is A [M, K], or A [K, M] transposed; B'
/// likewise; C broadcasts to [M, N]. A constant B is packed once. Narrow floats compute in float; integers wrap, and
/// where alpha or beta is not 1, go through double.
template <class T>
struct gemm {
  static constexpr bool instantiated =
      is_one_of<T, float, double, float16, bfloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  using number = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  activation f = {};
  gemm_panels<T> packed_b = {};
  const std::uint32_t* bf16_b = nullptr;  // instead of those where ep.cpu.math asks for it

  static result<gemm> bind(bind_context&);
  status run(run_context&) const;
};

/// The same with an activation: com.microsoft's FusedGemm. A kernel of its own, so that programs without it link no
/// activations.
template <class T>
struct fused_gemm : gemm<T> {
  static constexpr bool instantiated = is_one_of<T, float, double, float16>;
  static result<fused_gemm> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
