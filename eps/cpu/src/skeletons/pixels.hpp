#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

// Images of 2, 3 or 4 channels as pixels, whose channels lie side by side, and as planes, one of each channel and
// `step` elements apart. T is an unsigned integer of 1, 2 or 4 bytes; elements of other types are moved as one of their
// size.
namespace CAMEO_NAMESPACE::eps {

/// Planes become pixels: to[i * channels + k] = from[k * step + i] for i < count.
template <class T>
void join_planes(const T* from, std::int64_t step, std::int64_t channels, std::int64_t count, T* to);
/// Pixels become planes: to[k * step + i] = from[i * channels + k] for i < count.
template <class T>
void split_pixels(const T* from, std::int64_t channels, std::int64_t count, T* to, std::int64_t step);

}  // namespace CAMEO_NAMESPACE::eps
