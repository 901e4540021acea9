#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's AffineGrid: theta [N, axes, axes + 1] times every place of an image, to [N, out..., axes], for the sizes
/// [N, C, out...] of images with two or three axes. Places lie between -1 and 1, the last axis first; an axis of one
/// element is at 1 with align_corners. Float, double and the narrow floats, which compute in float.
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
