#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MaxpoolWithMask, with one to three spatial axes: the largest element of each window, of which each
/// row ends before the first element whose mask is 0; with more than one axis, the first element of a plane always
/// counts. The mask has axes for batch and channel, too. The offset of a plane's mask is computed as in ONNX Runtime:
/// if those axes have size 1, all planes have the mask of the first.
struct max_pool_with_mask {
  using elements = detail::element_set<float>;
  window shape = {};
  static result<max_pool_with_mask> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
