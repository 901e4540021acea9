#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's Gemm: Y [M, N] = f(alpha * A' * B' + beta * C). ONNX's operator has no activation f; FusedGemm has one. A' is
/// A [M, K], or A [K, M] transposed; B' likewise; C broadcasts to [M, N]. A constant B is packed once. float16 and
/// bfloat16 are computed in float; integers wrap around, and are computed through double if alpha or beta is not 1.
template <class T>
struct gemm {
  static constexpr bool instantiated =
      is_one_of<T, float, double, float16, bfloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  using number = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  activation f = {};
  gemm_panels<T> packed_b = {};
  const std::uint32_t* bf16_b = nullptr;  // replaces packed_b if ep.cpu.math selects bfloat16 for the node

  static result<gemm> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's FusedGemm: Gemm with an activation. It is a separate kernel so that programs without it link no
/// activations.
template <class T>
struct fused_gemm : gemm<T> {
  static constexpr bool instantiated = is_one_of<T, float, double, float16>;
  static result<fused_gemm> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
