#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// TensorScatter: a cache with `update` written over it along an axis, starting at a separate index for each batch; a
/// circular cache continues at the start of the axis. The output may be the buffer of the cache.
struct tensor_scatter {
  using elements = detail::all_elements;
  std::int64_t axis = -2;
  bool circular = false;

  static result<tensor_scatter> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
