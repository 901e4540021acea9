#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's MaxRoiPool: the largest element of each of height x width bins of regions of X [N, C, H, W]. rois [regions,
/// 5] are (image, x1, y1, x2, y2). The borders of a region are scaled and rounded to whole pixels, ties away from zero;
/// a bin outside the image is 0.
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
