#pragma once
#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The number of channels in a block of the NCHWc layout, [N, C / 16, H, W, 16]. It is the same for every instruction
/// set (1, 2 or 4 vectors), so that the layout does not depend on the processor.
inline constexpr std::int64_t channel_block = 16;

constexpr std::int64_t blocks_of(std::int64_t channels) { return (channels + channel_block - 1) / channel_block; }
constexpr std::int64_t rounded_up(std::int64_t channels) { return blocks_of(channels) * channel_block; }

}  // namespace CAMEO_NAMESPACE::eps
