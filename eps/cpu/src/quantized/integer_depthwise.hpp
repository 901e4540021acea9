#pragma once
#include "microkernels/integer_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Loops for filters of single channels that take every window of at most `most_depthwise_taps` taps. Sums of products
/// are formed in float: of so many products of a byte and a number of 9 bits, each sum is a whole number below 2^24,
/// and so exact.
extern const depthwise_loops float_depthwise;
inline constexpr std::int64_t most_depthwise_taps = 256;

/// The loops for a window here.
const depthwise_loops& depthwise_for(std::int64_t channels, std::int64_t rows, std::int64_t columns,
                                     std::int64_t stride, std::int64_t dilation, bool fit_bytes);

}  // namespace CAMEO_NAMESPACE::eps
