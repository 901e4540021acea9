#pragma once
#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The number of channels in a block of the NCHWc layout, [N, C / 16, H, W, 16]. It is the same for every instruction
/// set (1, 2 or 4 vectors), so that the layout does not depend on the processor.
inline constexpr std::int64_t channel_block = 16;

constexpr std::int64_t blocks_of(std::int64_t channels) { return (channels + channel_block - 1) / channel_block; }
constexpr std::int64_t rounded_up(std::int64_t channels) { return blocks_of(channels) * channel_block; }

/// Checks that a tensor in the NCHWc layout (as [N, C, H, W]) has rank 4 and whole blocks.
inline status check_blocked(const extents& x) {
  if (x.rank() == 4 && x[1] % channel_block == 0) return {};
  return bad_input("input ", x, ", needs rank 4 and channels in blocks of 16");
}

}  // namespace CAMEO_NAMESPACE::eps
