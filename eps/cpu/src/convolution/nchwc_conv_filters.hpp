#pragma once
#include <cameo/eps/cpu/nchwc_conv.hpp>

#include "microkernels/nchwc.hpp"

namespace CAMEO_NAMESPACE::eps {

// The weights of nchwc_conv: what they say, and how they are packed.

using nchwc_filters = nchwc_conv::filters;

/// What W says; INVALID_ARGUMENT for what the kernel has no loops for.
result<nchwc_filters> filters_of(const extents& w, std::int64_t groups);

inline std::int64_t all_maps(const nchwc_filters& f) { return f.groups * f.maps; }

/// Blocks of output channels of a group are worked on two by two; an odd one joins the last two. One alone where an
/// instruction set has few registers.
struct block_pairs {
  std::int64_t blocks, step;
  block_pairs(const nchwc_filters& f, std::int64_t most)
      : blocks{blocks_of(f.maps)}, step{std::min<std::int64_t>(most, 2)} {}
  std::int64_t count() const { return step == 1 ? blocks : std::max<std::int64_t>(1, blocks / 2); }
  std::int64_t first(std::int64_t i) const { return i * step; }
  std::int64_t size(std::int64_t i) const { return i + 1 == count() ? blocks - first(i) : step; }
};

/// What products of bfloat16 see. Fewer than 16 channels would leave numbers of cells empty, so the columns of their
/// kernel become channels: channel x * C + c of a pixel is channel c of the pixel that column x sees.
inline bool joins_columns(const nchwc_filters& f) { return f.groups == 1 && f.channels < channel_block; }
inline nchwc_filters seen_by_cells(nchwc_filters f) {
  if (joins_columns(f)) f.channels *= f.kernel[1], f.kernel[1] = 1;
  return f;
}
/// Pairs of channels of all blocks of a group.
inline std::int64_t pairs_of(const nchwc_filters& f) { return (f.channels + 1) / 2; }

/// Elements of packed weights, without overflow: W exists with as many elements but for the rounding.
bool packed_size(const nchwc_filters&, std::size_t& size);

/// W [M, C, taps] as [pair][C / 16][taps][up to 16 channels][blocks of the pair * 16]; with one filter per channel, W
/// [C, 1, taps] as [C / 16][taps][16].
void pack_filters(const float* w, const nchwc_filters&, std::int64_t most, float* to);
/// W [M, C, taps] as [pair of output blocks][C / 16][taps][up to 8 pairs of channels][blocks of the pair * 16], for
/// channels and taps that products of bfloat16 see.
void pack_filters(const float* w, const nchwc_filters&, std::int64_t most, std::uint32_t* to);

}  // namespace CAMEO_NAMESPACE::eps
