#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's CropAndResize: of X [N, C, H, W] the regions rois [regions, 4] (y1, x1, y2, x2, in parts of the
/// picture's sides) of the pictures batch_indices, each resized to crop_size [2], its corners on those of the region.
/// Linear or nearest; what lies outside the picture is extrapolation_value. Computes in double.
struct crop_and_resize {
  using elements = first_float_elements;
  bool nearest = false;
  float outside = 0;

  static result<crop_and_resize> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
