#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A convolution of images X [N, C, H, W] whose windows read each element at an offset of its own, between elements and
/// with zeros outside, and weigh it by a mask: ONNX's DeformConv with two spatial axes. A matrix product of the weights
/// with the patches. Scratch: the patches of an image; for narrow floats also its sums, and the weights.
struct deform_conv {
  using elements = float_elements;
  std::span<const std::int64_t> kernel, strides, dilations, pads;
  std::int64_t groups = 1, offset_groups = 1;

  static result<deform_conv> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
