#pragma once
#include <cameo/eps/cpu/detail/gemm_block.hpp>

namespace CAMEO_NAMESPACE::eps {

// The inner loops of convolution, over a copy of the input that has its padding written out. They read up to `slack`
// elements behind what they need, and drop them. T is float or double.
inline constexpr std::int64_t read_slack = 128;
/// Elements that pack_patches writes behind the panel's end.
inline constexpr std::int64_t write_slack = 64;

/// Outputs that are neighbours in a row: they go to column `to` of a panel and start at element `from` of a channel.
struct patch_piece {
  std::int64_t to, from, count;
};
/// A panel of patches, packed for multiply_block as B: row (tap, channel), column output. Columns that no piece covers
/// are left alone.
template <class T>
struct patch_panel {
  const T* source;  // first channel
  std::int64_t channels, channel_stride;
  std::span<const std::int64_t> taps;  // where each tap of the window starts
  std::int64_t step;                   // elements between the starts of neighbouring outputs
  std::span<const patch_piece> pieces;
  T* to;
  std::int64_t columns;
};
template <class T>
void pack_patches(const patch_panel<T>&);

/// One channel of a depthwise convolution: `rows` holds where each row of outputs starts in the plane.
template <class T>
struct depthwise_plane {
  const T* plane;
  std::span<const std::int64_t> rows, taps;
  const T* weights;  // one per tap
  std::int64_t width, step;
  T* to;                      // rows * width outputs, dense
  gemm_epilogue<T> epilogue;  // alpha = beta = 1; bias: one number; `add` dense like `to`
};
template <class T>
void run_depthwise(const depthwise_plane<T>&);

}  // namespace CAMEO_NAMESPACE::eps
