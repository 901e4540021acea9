#pragma once
#include "microkernels/integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Loops for depthwise convolutions (one filter per channel) with any window of at most `most_depthwise_taps` taps.
/// Sums are formed in float, exactly: the sum of `most_depthwise_taps` products of a byte and a number of 9 bits is an
/// integer below 2^24.
extern const depthwise_loops float_depthwise;
inline constexpr std::int64_t most_depthwise_taps = 256;

/// Returns the loops for a window of these sizes on this processor.
const depthwise_loops& depthwise_for(std::int64_t channels, std::int64_t rows, std::int64_t columns,
                                     std::int64_t stride, std::int64_t dilation, bool fit_bytes);

}  // namespace CAMEO_NAMESPACE::eps
