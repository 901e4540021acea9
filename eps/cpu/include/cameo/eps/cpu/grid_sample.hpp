#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's GridSample for one to three spatial axes: samples X [N, C, in...] at the positions in grid [N, out..., axes],
/// which lie between -1 and 1, the last axis of X first. Interpolation is nearest (ties to even), linear or cubic;
/// positions outside the image give zeros, the border, or reflections. Float is computed in float, double and integers
/// in double; integer results are truncated toward zero.
struct grid_sample {
  using elements = basic_elements;
  static constexpr std::size_t max_axes = 3;
  enum class interpolation : std::uint8_t { nearest, linear, cubic } mode = interpolation::linear;
  using padding = op::padding_mode_choice;
  padding outside = padding::zeros;
  bool align_corners = false;

  static result<grid_sample> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's GridSample: image, grid and result have the same type.
struct grid_sample_of_floats : grid_sample {
  using elements = first_float_elements;
  static result<grid_sample_of_floats> bind(bind_context& c) {
    const result<grid_sample> made = grid_sample::bind(c);
    if (!made) return made.error();
    return grid_sample_of_floats{*made};
  }
};

}  // namespace CAMEO_NAMESPACE::eps
