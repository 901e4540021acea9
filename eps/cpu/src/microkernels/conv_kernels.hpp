#pragma once
#include <cameo/eps/cpu/detail/gemm_block.hpp>

namespace CAMEO_NAMESPACE::eps {

// The inner loops of convolution, over a copy of the input in which the padding is written out. T is float or double.

/// The number of elements after the end of the input that loops may read; their values do not matter.
inline constexpr std::int64_t read_slack = 128;
/// The number of elements after the end of a panel that pack_patches() may overwrite.
inline constexpr std::int64_t write_slack = 64;

/// `count` consecutive outputs of a row, which begin at `column` of a panel; `offset` is the element of a channel at
/// which the window of the first one begins.
struct patch_piece {
  std::int64_t column, offset, count;
};
/// A panel of patches, which multiply_block() takes as B: rows are pairs of a tap and a channel, columns are outputs.
/// Columns that no piece covers stay unchanged. A tap is a position of the convolution's window.
template <class T>
struct patch_panel {
  const T* source;  // the first channel
  std::int64_t channels, channel_stride;
  std::span<const std::int64_t> taps;  // the offset of each tap of the window in a channel
  std::int64_t step;                   // elements between the windows of neighboring outputs
  std::span<const patch_piece> pieces;
  T* panel;
  std::int64_t columns;  // columns of the panel
};
template <class T>
void pack_patches(const patch_panel<T>&);

/// One channel of a depthwise convolution (one filter per channel). `rows` has the offset in the plane at which each
/// row of outputs starts.
template <class T>
struct depthwise_plane {
  const T* plane;
  std::span<const std::int64_t> rows, taps;
  const T* weights;           // one per tap
  std::int64_t width, step;   // outputs of a row; elements between the windows of neighboring outputs
  T* y;                       // rows * width outputs, dense
  gemm_epilogue<T> epilogue;  // alpha and beta are 1, the bias is one number, and `add` is dense like `y`
};
template <class T>
void run_depthwise(const depthwise_plane<T>&);

}  // namespace CAMEO_NAMESPACE::eps
