#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// DeformConv with two spatial axes: a convolution of images X [N, C, H, W] whose windows read each element at a
/// separate offset, interpolated between pixels and zero outside the image, and multiplied by a mask. It is computed as
/// a matrix product of the weights and the patches. Scratch: the patches of one image; for float16 and bfloat16 also
/// the sums of the image, and the weights.
struct deform_conv {
  using elements = float_elements;
  window shape = {};
  std::int64_t groups = 1, offset_groups = 1;

  static result<deform_conv> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
