#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Y [N, M, out...] = f(X [N, C, in...] * W [M, C / group, kernel...] + B [M] + Z [N, M, out...]): ONNX's Conv, where f
/// and Z are none. Any number of spatial axes up to 10. Narrow floats
/// compute in float.
///
/// A matrix product of the weights, packed once when they are constant, with patches of the input that are packed block
/// by block; 1x1 reads the input in place, and channels with a filter of their own (depthwise) are summed up
/// directly. Scratch: a copy of the input that has its padding written out, of as many images as fit in 16 MB but at
/// least one, and blocks of patches (about 1/2 MB) per thread.
template <class T>
struct conv {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  using number = std::conditional_t<std::is_same_v<T, double>, double, float>;  // the type that it computes in

  window shape = {};
  std::int64_t groups = 1;
  activation f = {};
  const T* packed = nullptr;  // weights, in their type; null: packed at every run

  static result<conv> bind(bind_context&);
  status run(run_context&) const;
};

/// The same with an activation: com.microsoft's FusedConv. A kernel of its own, so that programs without it link no
/// activations.
template <class T>
struct fused_conv : conv<T> {
  static constexpr bool instantiated = is_one_of<T, float, double, float16>;
  static result<fused_conv> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
