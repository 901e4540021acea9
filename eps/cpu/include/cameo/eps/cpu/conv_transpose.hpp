#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Y [N, M, out...] of X [N, C, in...], W [C, M / group, kernel...] and B [M]: every element of X adds its multiple of
/// the kernel to Y, `strides` apart. A matrix product into scratch (of as many images as fit in 64 MB, but at least
/// one), whose rows are then added to their places. Narrow floats compute in float.
template <class T>
struct conv_transpose {
  static constexpr bool instantiated = is_one_of<T, float, double, float16, bfloat16>;
  using number = std::conditional_t<std::is_same_v<T, double>, double, float>;

  window shape = {};
  std::int64_t groups = 1;
  std::span<const std::int64_t> output_padding, output_shape;
  std::size_t bias_input = 2;

  static result<conv_transpose> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's ConvTransposeWithDynamicPads: the same, with pads as an input, before B; without it, none.
struct conv_transpose_with_dynamic_pads {
  using elements = detail::element_set<float>;
  conv_transpose<float> how;

  static result<conv_transpose_with_dynamic_pads> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
