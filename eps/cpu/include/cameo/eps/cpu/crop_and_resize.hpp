#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's CropAndResize: crops regions of images and resizes them. X is [N, C, H, W], rois [regions, 4] (y1,
/// x1, y2, x2 as fractions of the image's sides), batch_indices [regions] the image of each region. Each region is
/// resized to crop_size [2] so that corners map to corners, by linear or nearest interpolation. Positions outside the
/// image get extrapolation_value. Computes in double.
struct crop_and_resize {
  using elements = first_float_elements;
  bool nearest = false;
  float outside = 0;

  static result<crop_and_resize> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
