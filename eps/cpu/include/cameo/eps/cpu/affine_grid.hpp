#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's AffineGrid: multiplies the affine matrices theta [N, axes, axes + 1] by the coordinates of every pixel of an
/// image of the size [N, C, out...], with two or three spatial axes. The output is [N, out..., axes]. Coordinates lie
/// between -1 and 1, the last axis of the image first; an axis of size 1 has the coordinate 1 if align_corners is set.
/// float16 and bfloat16 are computed in float.
struct affine_grid {
  using elements = float_elements;
  bool align_corners = false;

  static result<affine_grid> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&, const extents& size) const;
};

}  // namespace CAMEO_NAMESPACE::eps
