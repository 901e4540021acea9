#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MaxpoolWithMask, of one to three axes: the largest element of each window, of which each line ends
/// before the first element where the mask is 0; with more than one axis, the plane's first always counts. The mask has
/// an axis for batch and channel, too; where a plane's mask begins is as ONNX Runtime has it, so all planes have the
/// first one's when those axes are 1.
struct max_pool_with_mask {
  using elements = detail::element_set<float>;
  window shape = {};
  static result<max_pool_with_mask> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
