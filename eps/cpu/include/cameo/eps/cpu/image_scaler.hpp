#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ImageScaler, until opset 10: y = scale * x + bias[c] for an image [N, C, H, W] (or another number of spatial axes).
/// y may be the buffer of x.
struct image_scaler {
  using elements = float_elements;
  double scale = 1;
  std::span<const float> bias;

  static result<image_scaler> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

/// Crop, until opset 10: an image [N, C, H, W] without its margins `border` (left, top, right, bottom), or the region
/// of the size `scale` (height, width) that starts at (left, top).
struct crop {
  std::span<const std::int64_t> border, scale;

  static result<crop> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
