#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>

#include "nchwc.hpp"

namespace CAMEO_NAMESPACE::eps {

// The inner loops over tensors whose channels lie in blocks.

/// Outputs of one line for a few blocks of output channels. Pixels that are neighbours in the output are neighbours in
/// `x` too: a kernel's stride is dealt with before, when `x` is copied.
struct nchwc_line {
  const float* x;            // first output's window
  std::int64_t x_block;      // elements from one block of input channels to the next
  std::int64_t channels;     // input channels to read
  const std::int64_t* taps;  // where the elements of a window lie, from its start
  std::int64_t tap_count;    // of them
  std::int64_t w_first;      // weights of a channel before the first of `taps`, in taps
  std::int64_t w_taps;       // taps that the weights have
  const float* w;            // [channels / 16][w_taps][up to 16 channels][blocks * 16]
  std::int64_t blocks;       // of output channels, nchwc_line_kernels::most_blocks at most
  std::int64_t count;        // outputs
  float* y;                  // first output
  std::int64_t y_block;      // elements from one block of output channels to the next
  const float* ahead;        // null, or weights that are wanted soon: on the way into the second cache meanwhile,
  std::int64_t ahead_lines;  // cache lines of them for each 16 channels of a tap
  const float* bias;         // [blocks * 16]
  const float* add;          // null, or laid out as y: added before the activation
  float low, high;           // bounds of y, for Relu and Clip; infinite for none
  const activation* more;    // null, or what is done to y besides
  std::int64_t lanes;        // of the last block that hold channels; the others become 0
};

/// One line of outputs of a convolution with one filter per channel, of one block.
struct nchwc_depthwise_line {
  const float* x;                 // start of the line that the first row of taps sees
  std::int64_t row_step;          // elements from one row of taps to the next
  std::int64_t rows, columns;     // taps of the window that lie inside the image vertically; all taps of a row
  std::int64_t stride, dilation;  // of a line, in pixels
  const float* w;                 // [rows][columns][16]
  std::int64_t width, pad;        // pixels of an input line, and before it
  std::int64_t count;
  float* y;
  const float* bias;  // [16]
  const float* add;
  float low, high;
  const activation* more;
  std::int64_t lanes;
};

/// One line of pooled outputs of one block.
struct nchwc_pool_line {
  const float* x;  // start of the line that the first row of taps sees
  std::int64_t row_step, rows, columns, stride, dilation, width, pad, count;
  float* y;
  const float* scale;  // mean: 1 / elements for each output; null: the largest
};

/// The loops of dense convolutions for one instruction set. A kernel chooses when it binds and stays with it: packed
/// weights go with it.
struct nchwc_line_kernels {
  std::int64_t most_blocks;               // of output channels that `line` does at once
  std::int64_t most_pixels;               // that it does at once of two blocks
  void (*line)(const nchwc_line&);        // x with blocked channels
  void (*plain_line)(const nchwc_line&);  // x as planes: pixels are 1 element apart, `channels` is 1
};
const nchwc_line_kernels& best_nchwc_line_kernels();

/// The other loops for one instruction set.
struct nchwc_kernels {
  void (*depthwise)(const nchwc_depthwise_line&);
  void (*pool)(const nchwc_pool_line&);
  void (*mean)(const float* x, std::int64_t count, float* y);  // of `count` pixels of a block
  void (*largest)(const float* x, std::int64_t count, float* y);
  /// y [count][16] = x [lanes planes][count], zeros behind the lanes; and back.
  void (*block)(const float* x, std::int64_t plane, std::int64_t lanes, std::int64_t count, float* y);
  void (*unblock)(const float* x, std::int64_t plane, std::int64_t lanes, std::int64_t count, float* y);
  void (*every_second)(const float* x, std::int64_t count, float* y);  // y[i] = x[2 * i]
};
const nchwc_kernels& best_nchwc_kernels();

}  // namespace CAMEO_NAMESPACE::eps
