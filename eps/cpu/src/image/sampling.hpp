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

/// Checks the sizes of images X, and that each region is of one of them.
inline status check_regions(const value& x, const value& batches) {
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const integers image{batches};
  for (std::int64_t i = 0; i < image.count(); ++i)
    if (image[i] < 0 || image[i] >= x.shape[0])
      return bad_input("batch index ", image[i], " is not in [0,", x.shape[0], ")");
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
