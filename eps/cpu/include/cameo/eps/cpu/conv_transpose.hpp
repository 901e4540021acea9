#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ConvTranspose: Y [N, M, out...] of X [N, C, in...], W [C, M / group, kernel...] and B [M]. Every element of X adds
/// its multiple of the kernel to Y, `strides` apart. A matrix product computes these multiples into scratch (of as many
/// images as fit in 64 MB, but at least one), and its rows are then added to Y. float16 and bfloat16 are computed in
/// float.
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

/// com.microsoft's ConvTransposeWithDynamicPads: ConvTranspose whose pads are an optional input, before B; without the
/// input there is no padding.
struct conv_transpose_with_dynamic_pads {
  using elements = detail::element_set<float>;
  conv_transpose<float> how;

  static result<conv_transpose_with_dynamic_pads> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
