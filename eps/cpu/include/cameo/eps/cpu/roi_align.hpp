#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Regions of X [N, C, H, W] pooled to [regions, C, output_height, output_width]: each output is the mean or largest of
/// samples between elements. batch_indices holds the image of each region.
struct roi_align {
  using elements = float_elements;
  std::int64_t height = 1, width = 1, samples = 0;  // samples 0: as many as the region is large
  double scale = 1;
  bool largest = false, half_pixel = false;

  static result<roi_align> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
