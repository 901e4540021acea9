#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's Conv: Y [N, M, out...] = f(X [N, C, in...] * W [M, C / group, kernel...] + B [M] + Z [N, M, out...]). ONNX's
/// operator has no activation f and no addend Z; FusedConv has both. Up to 10 spatial axes. float16 and bfloat16 are
/// computed in float.
///
/// The convolution is computed as a matrix product of the weights, which are packed once if they are constant, and
/// patches of the input, which are packed block by block (im2col without the whole matrix). A 1x1 kernel reads the
/// input in place, and a depthwise convolution is summed directly. Scratch: a copy of the input with its padding
/// written out, for as many images as fit in 16 MB but at least one, and a block of patches (about 1/2 MB) per thread.
template <class T>
struct conv {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  using number = std::conditional_t<std::is_same_v<T, double>, double, float>;  // the type of the arithmetic

  window shape = {};
  std::int64_t groups = 1;
  activation f = {};
  const T* packed = nullptr;  // the packed weights, in their own type; null: packed in every run

  static result<conv> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's FusedConv: Conv with an activation. It is a separate kernel so that programs without it link no
/// activations.
template <class T>
struct fused_conv : conv<T> {
  static constexpr bool instantiated = is_one_of<T, float, double, float16>;
  static result<fused_conv> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
