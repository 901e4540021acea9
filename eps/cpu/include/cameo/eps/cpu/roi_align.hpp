#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// RoiAlign: pools regions of X [N, C, H, W] to [regions, C, output_height, output_width]. Each output is the mean or
/// the largest of samples that are interpolated between pixels. batch_indices contains the image of each region.
struct roi_align {
  using elements = float_elements;
  std::int64_t height = 1, width = 1, samples = 0;  // samples 0: a number that depends on the size of the region
  double scale = 1;
  bool largest = false, half_pixel = false;

  static result<roi_align> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
