#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>

#include "nchwc.hpp"

namespace CAMEO_NAMESPACE::eps {

// The inner loops over tensors in the NCHWc layout (channels in blocks of 16, see nchwc.hpp). A line is the pixels of
// one image row of the output. A tap is a position of the convolution's window.

/// The arguments for one line of a dense convolution, for a few blocks of output channels. The windows of neighboring
/// outputs are neighbors in `x`: a convolution with a stride has copied the pixels that it needs.
struct nchwc_line {
  const float* x;            // the window of the first output
  std::int64_t x_block;      // elements from one block of input channels to the next
  std::int64_t channels;     // input channels to read
  const std::int64_t* taps;  // the offset of each tap from the start of a window, in elements
  std::int64_t tap_count;
  std::int64_t w_first;      // taps of the weights before the first of `taps`
  std::int64_t w_taps;       // taps of the weights in total
  const float* w;            // [channels / 16][w_taps][up to 16 channels][blocks * 16]
  std::int64_t blocks;       // blocks of output channels, nchwc_line_kernels::most_blocks at most
  std::int64_t count;        // outputs
  float* y;                  // the first output
  std::int64_t y_block;      // elements from one block of output channels to the next
  const float* ahead;        // weights that are needed soon, which are prefetched into the L2 cache; or null
  std::int64_t ahead_lines;  // cache lines of them to prefetch for each 16 channels of a tap
  const float* bias;         // [blocks * 16]
  const float* add;          // an addend with the layout of y, which is added before the activation; or null
  float low, high;           // the bounds of y, for Relu and Clip; infinite for none
  const activation* more;    // another activation that is applied to y, or null
  std::int64_t lanes;        // channels of the last block that exist; the others become 0
};

/// The arguments for one line of a depthwise convolution (one filter per channel), for one block of channels.
struct nchwc_depthwise_line {
  const float* x;                 // the beginning of the input line that the first row of taps covers
  std::int64_t row_step;          // elements from one row of taps to the next
  std::int64_t rows, columns;     // rows of the window that are inside the image; columns of the window
  std::int64_t stride, dilation;  // along the line, in pixels
  const float* w;                 // [rows][columns][16]
  std::int64_t width, pad;        // pixels of an input line, and of the padding before it
  std::int64_t count;             // outputs; it and the members below are as in nchwc_line
  float* y;
  const float* bias;  // [16]
  const float* add;
  float low, high;
  const activation* more;
  std::int64_t lanes;
};

/// The arguments for one line of a pool, for one block of channels; the members are as in nchwc_depthwise_line.
struct nchwc_pool_line {
  const float* x;
  std::int64_t row_step, rows, columns, stride, dilation, width, pad, count;
  float* y;
  const float* scale;  // for the mean, 1 / number of elements for each output; null: the maximum
};

/// The loops of dense convolutions for one instruction set. A kernel chooses them while binding and keeps them, as its
/// packed weights have their layout.
struct nchwc_line_kernels {
  std::int64_t most_blocks;               // the most blocks of output channels of one call of `line`
  std::int64_t most_pixels;               // pixels of a tile of two blocks
  void (*line)(const nchwc_line&);        // x in the NCHWc layout
  void (*plain_line)(const nchwc_line&);  // x as planes: neighboring pixels are 1 element apart, `channels` is 1
};
const nchwc_line_kernels& best_nchwc_line_kernels();

/// The other loops for one instruction set.
struct nchwc_kernels {
  void (*depthwise)(const nchwc_depthwise_line&);
  void (*pool)(const nchwc_pool_line&);
  /// The mean, or the maximum, of `count` pixels of a block, for each channel.
  void (*mean)(const float* x, std::int64_t count, float* y);
  void (*largest)(const float* x, std::int64_t count, float* y);
  /// y [count][16] = x [lanes planes][count] with zeros for further channels; `unblock` is the inverse.
  void (*block)(const float* x, std::int64_t plane, std::int64_t lanes, std::int64_t count, float* y);
  void (*unblock)(const float* x, std::int64_t plane, std::int64_t lanes, std::int64_t count, float* y);
  void (*every_second)(const float* x, std::int64_t count, float* y);  // y[i] = x[2 * i]
};
const nchwc_kernels& best_nchwc_kernels();

}  // namespace CAMEO_NAMESPACE::eps
