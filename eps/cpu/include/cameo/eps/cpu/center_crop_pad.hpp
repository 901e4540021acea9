#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The middle of the input, or the input in the middle of zeros, along each axis for which `shape` has a size; of an
/// odd difference, the smaller half comes first.
struct center_crop_pad {
  std::span<const std::int64_t> axes;
  bool has_axes = false;

  static result<center_crop_pad> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
