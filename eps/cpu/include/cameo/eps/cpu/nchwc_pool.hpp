#pragma once
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

struct nchwc_kernels;

// The pools of com.microsoft.nchwc: ONNX's pools with two spatial axes, on X and Y in the blocked layout. Shapes are
// [N, C', H, W] with C' a multiple of 16, memory is [N, C' / 16, H, W, 16]. Every channel is pooled separately: the
// channels that fill up the last block contain the results of X's elements there.

/// The largest element of each window (NaN if the window has one), or (`Mean`) the mean, with include_pad of the window
/// and its padding.
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

/// A pool with one window over all spatial axes: Y is [N, C', 1, 1], whose memory is the same in the plain layout.
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
