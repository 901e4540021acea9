#pragma once
#include <cameo/eps/cpu/integer_conv.hpp>

#include "integer_depthwise.hpp"
#include "operands/refuse.hpp"
#include "products/integer_factor.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The sizes of filters W [M, C / group, kernel...]. A map is an output channel.
struct integer_filter_shape {
  std::int64_t groups = 1, maps = 0, channels = 0;  // groups; maps and channels of each
  std::int64_t taps = 1, row = 1;                   // taps of a window, and of a row (its last axis)
  bool row_is_run = true;     // the pixels of a row of the window are contiguous (one group, no dilation)
  bool is_depthwise = false;  // there is one filter per channel

  std::int64_t all_maps() const { return groups * maps; }
  std::int64_t depth() const { return channels * taps; }  // products of a sum; it is a part of W's size, so it fits
  integer_panels panels(const integer_arithmetic& by) const {
    return {&by, nullptr, maps, row_is_run ? taps / row : taps, row_is_run ? row * channels : channels};
  }
};
result<integer_filter_shape> filters_of(const extents& w, const integer_conv_state&);

/// The bytes of the sums of filters, which are stored in front of the packed filters of a depthwise convolution,
/// rounded up to whole vectors.
inline std::size_t sum_bytes(const integer_filter_shape& f) {
  return (std::size_t(f.groups) * sizeof(std::int32_t) + 63) / 64 * 64;
}

/// The layout of arrays with an element per map, such as `start` and the scales: the maps of each group are followed by
/// those that fill up its last panel. operator[] is the index of a map in such an array.
struct map_places {
  std::int64_t maps, width, count;
  map_places(const integer_filter_shape&, const integer_filters&);
  std::int64_t operator[](std::int64_t map) const { return map / maps * width + map % maps; }
};
/// Computes the initial values of sums, [map_places::count]: `add` [M] (or 0 if null), minus what the zero point of x
/// adds to the sums.
void fill_start(const integer_filter_shape&, const integer_filters&, const std::int32_t* add, bool x_is_signed,
                std::int32_t x_zero, std::int32_t* start);

/// Returns whether a parameter, which may be absent, is one number, or one for each filter.
bool fits_filters(const value&, std::int64_t filters);

/// The weights that were packed while binding, or packs them now.
result<integer_filters> weights_of(run_context&, const integer_conv_state&, const integer_filter_shape&, const value& w,
                                   const value& zero);

}  // namespace CAMEO_NAMESPACE::eps
