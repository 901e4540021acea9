#pragma once
#include "integer_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// One line of outputs of a convolution of codes with one filter per channel. x is u8 with its padding written out, all
/// channels of a pixel side by side.
///
/// Sums of products are formed in float: of at most `most_depthwise_taps` products of a byte and a number of 9 bits,
/// each sum is a whole number below 2^24, and so exact.
struct depthwise_line {
  const std::uint8_t* x;         // the first pixel that the first output sees
  std::int64_t row_step, pixel;  // bytes from one row of the window to the next, and from one pixel to the next
  std::int64_t rows, columns, stride, dilation;
  const float* w;  // [rows * columns][w_step]
  std::int64_t w_step;
  const std::int32_t* start;  // [channels]: where sums begin
  std::int64_t channels, outputs;
  std::int32_t* sums;  // null: codes are wanted
  code_form form;      // scales [channels]
  std::uint8_t* codes;
  std::int64_t step;  // elements from one output to the next
};
inline constexpr std::int64_t most_depthwise_taps = 256;
void run_depthwise(const depthwise_line&);

}  // namespace cameo::inline CAMEO_ABI::eps
