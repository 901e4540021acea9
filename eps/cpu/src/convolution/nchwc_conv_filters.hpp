#pragma once
#include <cameo/eps/cpu/nchwc_conv.hpp>

#include "microkernels/nchwc.hpp"

namespace CAMEO_NAMESPACE::eps {

// The weights of nchwc_conv: their sizes, and how they are packed.

using nchwc_filters = nchwc_conv::filters;

/// Returns the sizes of W; INVALID_ARGUMENT for weights that the kernel has no loops for.
result<nchwc_filters> filters_of(const extents& w, std::int64_t groups);

inline std::int64_t all_maps(const nchwc_filters& f) { return f.groups * f.maps; }

/// Output channels are computed in pairs of blocks of 16; if the number of blocks is odd, the last pair has three. An
/// instruction set with few registers computes one block at a time (`most` = 1).
struct block_pairs {
  std::int64_t blocks, step;
  block_pairs(const nchwc_filters& f, std::int64_t most)
      : blocks{blocks_of(f.maps)}, step{std::min<std::int64_t>(most, 2)} {}
  std::int64_t count() const { return step == 1 ? blocks : std::max<std::int64_t>(1, blocks / 2); }
  std::int64_t first(std::int64_t i) const { return i * step; }
  std::int64_t size(std::int64_t i) const { return i + 1 == count() ? blocks - first(i) : step; }
};

/// True if the products of bfloat16 treat the columns of the kernel as channels. Groups of channel pairs would be
/// almost empty with fewer than 16 channels. Channel x * C + c of a pixel then is channel c of the pixel at kernel
/// column x.
inline bool joins_columns(const nchwc_filters& f) { return f.groups == 1 && f.channels < channel_block; }
/// The weights as the products of bfloat16 read them: with the kernel's columns as channels if joins_columns().
inline nchwc_filters as_bf16_filters(nchwc_filters f) {
  if (joins_columns(f)) f.channels *= f.kernel[1], f.kernel[1] = 1;
  return f;
}
/// The number of pairs of channels of a group.
inline std::int64_t pairs_of(const nchwc_filters& f) { return (f.channels + 1) / 2; }

/// Sets the number of elements of packed weights; false if it overflows.
bool packed_size(const nchwc_filters&, std::size_t& size);

/// Packs W [M, C, taps] as [block pair][C / 16][taps][up to 16 channels][blocks of the pair * 16]; depthwise weights
/// [C, 1, taps] as [C / 16][taps][16].
void pack_filters(const float* w, const nchwc_filters&, std::int64_t most, float* to);
/// Packs W [M, C, taps] for products of bfloat16, as [block pair][C / 16][taps][up to 8 pairs of channels][blocks of
/// the pair * 16]; an element is a pair of channels. Channels and taps are those of as_bf16_filters().
void pack_filters(const float* w, const nchwc_filters&, std::int64_t most, std::uint32_t* to);

}  // namespace CAMEO_NAMESPACE::eps
