#pragma once
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// MaxUnpool: writes the elements of X to the positions that MaxPool found them at, and zeros elsewhere. Indices refer
/// to the tensor whose shape the window implies; if output_shape is larger, that tensor is at its start.
struct max_unpool {
  window shape = {};

  static result<max_unpool> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
