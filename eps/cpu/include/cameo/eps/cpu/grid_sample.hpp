#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// X [N, C, in...] at the positions in grid [N, out..., axes], the last axis of X first, from -1 to 1: ONNX's
/// GridSample for one to three spatial axes. Nearest (halves to even), linear or cubic; outside there are zeros, the
/// border, or reflections. Numbers compute in float, double and integers in double; integers are cut towards zero.
struct grid_sample {
  using elements = basic_elements;
  static constexpr std::size_t max_axes = 3;
  enum class interpolation : std::uint8_t { nearest, linear, cubic } mode = interpolation::linear;
  enum class padding : std::uint8_t { zeros, border, reflection } outside = padding::zeros;
  bool align_corners = false;

  static result<grid_sample> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's GridSample, whose image, grid and result have one type.
struct grid_sample_of_floats : grid_sample {
  using elements = first_float_elements;
  static result<grid_sample_of_floats> bind(bind_context& c) {
    const result<grid_sample> made = grid_sample::bind(c);
    if (!made) return made.error();
    return grid_sample_of_floats{*made};
  }
};

}  // namespace CAMEO_NAMESPACE::eps
