#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

struct nchwc_kernels;

/// com.microsoft.nchwc ReorderInput: converts X [N, C, H, W], or [N, H, W, C] with channels_last, to the blocked
/// layout, in which 16 neighboring channels of a pixel are next to each other. The shape of Y is [N, C', H, W], where
/// C' is C rounded up to a multiple of 16; its memory is [N, C' / 16, H, W, 16]. Elements of channels from C on become
/// 0.
struct nchwc_reorder_input {
  bool channels_last = false;
  const nchwc_kernels* loops = nullptr;

  static result<nchwc_reorder_input> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft.nchwc ReorderOutput: the inverse of ReorderInput, for the first `channels` channels.
struct nchwc_reorder_output {
  std::int64_t channels = 0;
  bool channels_last = false;
  const nchwc_kernels* loops = nullptr;

  static result<nchwc_reorder_output> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft.nchwc Upsample: enlarges a blocked X [N, C', H, W] to Y [N, C', H * s2, W * s3] by whole factors, the
/// scales [1, 1, s2, s3]. `nearest` repeats pixels, `linear` interpolates between the four pixels around a point, with
/// the coordinate_transformation_mode asymmetric, align_corners or half_pixel.
struct nchwc_upsample {
  using coordinates = op::upsample_coordinate_transformation_mode_choice;
  bool is_linear = false;
  coordinates points = coordinates::asymmetric;  // of linear
  std::int64_t scales[2] = {1, 1};

  static result<nchwc_upsample> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
