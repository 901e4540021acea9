#pragma once
#include "operands/choice.hpp"
#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Reads the attribute `mode` of operators that sample images; E has nearest, linear and cubic. Some versions of
/// operators call the last two bilinear and bicubic.
template <class E>
status read_interpolation(const bind_context& c, E& mode) {
  const std::string_view given = c.string_or("mode", "");
  if (given == "bilinear") return mode = E::linear, status{};
  if (given == "bicubic") return mode = E::cubic, status{};
  return read_choice(c, "mode", {"nearest", "linear", "cubic"}, mode);
}

/// Checks images X and regions of them: rois [regions, 4], and the image of each region.
inline status check_regions(const value& x, const value& rois, const value& batches) {
  if (x.shape.rank() != 4) return bad_input("X ", x.shape, " must be [N, C, H, W]");
  if (rois.shape.rank() != 2 || rois.shape[1] != 4 || batches.shape != extents{rois.shape[0]})
    return bad_input("rois ", rois.shape, " and batch_indices ", batches.shape, " must be [regions, 4] and [regions]");
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const integers image{batches};
  for (std::int64_t i = 0; i < image.count(); ++i)
    if (image[i] < 0 || image[i] >= x.shape[0])
      return bad_input("batch index ", image[i], " is not in [0,", x.shape[0], ")");
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
