#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/read_attribute.hpp>

namespace CAMEO_NAMESPACE::eps {

/// CenterCropPad: crops the middle of the input, or surrounds the input with zeros, along each axis for which `shape`
/// has a size. If the difference of the sizes is odd, one element less is cropped or padded before the middle than
/// after it.
struct center_crop_pad {
  attribute_list<std::int64_t> axes;

  static result<center_crop_pad> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
