#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The largest element of each of height x width bins of the regions rois [regions, 5] (picture, x1, y1, x2, y2) of X
/// [N, C, H, W]: ONNX's MaxRoiPool. Borders are scaled and rounded to whole elements, halves away from zero; a bin
/// outside the picture is 0.
struct max_roi_pool {
  using elements = float_elements;
  std::int64_t height = 0, width = 0;
  float scale = 1;

  static result<max_roi_pool> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
