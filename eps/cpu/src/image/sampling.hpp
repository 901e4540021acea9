#pragma once
#include <cameo/op/attributes/choices.hpp>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The mode of operators that sample images; E has nearest, linear and cubic.
template <class E>
E interpolation_of(op::grid_sample_mode_choice mode) {
  using choice = op::grid_sample_mode_choice;
  if (mode == choice::nearest) return E::nearest;
  return mode == choice::linear || mode == choice::bilinear ? E::linear : E::cubic;
}

/// Checks the sizes of images X, and that each region is of one of them.
inline status check_regions(const value& x, const value& batches) {
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const integers image{batches};
  for (std::int64_t i = 0; i < image.count(); ++i)
    if (status s = check_element("batch_indices", image[i], 0, x.shape[0] - 1); !s) return s;
  return {};
}

/// Checks that images X have pixels.
inline status check_pixels(const value& x) {
  if (x.shape.count(2, x.shape.rank()) != 0) return {};
  return bad_input("X has shape ", x.shape, ", must have pixels to sample");
}

}  // namespace CAMEO_NAMESPACE::eps
