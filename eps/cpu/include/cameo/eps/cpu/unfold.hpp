#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's UnfoldTensor: all slices of `size` elements along axis `dim`, `step` apart, each along a new last
/// axis.
struct unfold {
  std::int64_t axis, size, step;
  static result<unfold> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
