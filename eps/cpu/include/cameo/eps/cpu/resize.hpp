#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's Resize and Upsample, with any number of axes. Mode nearest copies elements of any type; linear and cubic
/// interpolate numbers, one axis after the other. Integers are converted as in ONNX Runtime: truncated in mode linear,
/// rounded after each axis with antialias. Mode cubic without antialias, which ONNX Runtime lacks for integers, rounds.
/// Sizes come from scales or, from version 11 on, from `sizes`. Scratch: two or three copies of the numbers, and the
/// weights of every axis.
struct resize {
  using elements = basic_elements;
  enum class interpolation : std::uint8_t { nearest, linear, cubic };
  using coordinates = op::resize_coordinate_transformation_mode_choice;
  using policy = op::keep_aspect_ratio_policy_choice;
  /// Ways to round: those of nearest_mode, in its order, and `simple`: ceil if the axis shrinks.
  enum class rounding : std::uint8_t { prefer_floor, prefer_ceil, floor, ceil, simple };

  interpolation mode = interpolation::nearest;
  coordinates space = coordinates::asymmetric;
  rounding nearest = rounding::simple;
  policy keep_ratio = policy::stretch;
  bool exclude_outside = false, antialias = false;
  float cubic_a = -0.75f, extrapolation = 0;
  std::span<const std::int64_t> axes = {};  // empty: all axes
  bool has_axes = false;
  std::span<const float> scales = {};  // from an attribute; else they are input `scales_at`
  int scales_at = -1, sizes_at = -1, roi_at = -1;

  static result<resize> bind(bind_context&);
  status run(run_context&) const;
};

/// Upsample before Resize existed: asymmetric coordinates, rounded down.
struct upsample {
  using elements = basic_elements;
  static result<resize> bind(bind_context&);
  static status run(const resize& state, run_context& c) { return state.run(c); }
};

}  // namespace CAMEO_NAMESPACE::eps
