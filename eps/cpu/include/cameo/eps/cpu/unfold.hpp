#pragma once
#include <cameo/kernel/kernel.hpp>

CAMEO_BEGIN_NAMESPACE
namespace eps {

/// com.microsoft's UnfoldTensor: all slices of `size` elements of axis `dim`, `step` apart, each along a new last axis.
struct unfold {
  std::int64_t axis, size, step;
  static result<unfold> bind(bind_context& c);
  status run(run_context& c) const;
};

}  // namespace eps
CAMEO_END_NAMESPACE
