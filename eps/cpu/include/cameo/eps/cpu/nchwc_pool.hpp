#pragma once
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

struct nchwc_kernels;

// com.microsoft.nchwc's pools: as ONNX's in 2 dimensions, on X and Y whose channels lie in blocks of 16, next to each
// other. Extents are [N, C', H, W] with C' a multiple of 16, memory is [N, C' / 16, H, W, 16]. Every lane is a channel
// of its own: lanes behind the channels hold the result of X's elements there.

/// The largest element (NaN if there is one) of each window, or (`mean`) the mean; with include_pad, with the padding.
template <bool Mean>
struct nchwc_pool {
  window shape = {};
  bool include_pad = false;
  const nchwc_kernels* loops = nullptr;

  static result<nchwc_pool> bind(bind_context&);
  status run(run_context&) const;
};
using nchwc_max_pool = nchwc_pool<false>;
using nchwc_average_pool = nchwc_pool<true>;
extern template struct nchwc_pool<false>;
extern template struct nchwc_pool<true>;

/// One window over everything: Y [N, C', 1, 1], which is also its plain layout.
template <bool Mean>
struct nchwc_global_pool {
  const nchwc_kernels* loops = nullptr;

  static result<nchwc_global_pool> bind(bind_context&);
  status run(run_context&) const;
};
using nchwc_global_max_pool = nchwc_global_pool<false>;
using nchwc_global_average_pool = nchwc_global_pool<true>;
extern template struct nchwc_global_pool<false>;
extern template struct nchwc_global_pool<true>;

}  // namespace CAMEO_NAMESPACE::eps
