#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Puts the elements of X back where MaxPool found them; zeros elsewhere. Indices count in the tensor that the window
/// implies; if output_shape is larger, that tensor lies at its start.
struct max_unpool {
  std::span<const std::int64_t> kernel, strides, pads;

  static result<max_unpool> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
