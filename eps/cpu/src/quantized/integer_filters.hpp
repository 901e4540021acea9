#pragma once
#include <cameo/eps/cpu/integer_conv.hpp>

#include "integer_depthwise.hpp"
#include "operands/refuse.hpp"
#include "products/integer_factor.hpp"

namespace CAMEO_NAMESPACE::eps {

/// What W [M, C / group, kernel...] says.
struct integer_filter_shape {
  std::int64_t groups = 1, maps = 0, channels = 0;  // maps and channels of a group
  std::int64_t taps = 1, row = 1;                   // of a window, and of its last axis
  bool row_is_run = true;  // the pixels of a window's row are neighbours, and their channels are all of a group
  bool is_depthwise = false;

  std::int64_t all_maps() const { return groups * maps; }
  std::int64_t depth() const { return channels * taps; }  // of a sum; of a tensor's shape, so it fits
  integer_panels panels(const integer_arithmetic& by) const {
    return {&by, nullptr, maps, row_is_run ? taps / row : taps, row_is_run ? row * channels : channels};
  }
};
result<integer_filter_shape> filters_of(const extents& w, const integer_conv_state&);

/// Before the filters of a depthwise convolution stand their sums: bytes of these, filled up to whole vectors.
inline std::size_t sum_bytes(const integer_filter_shape& f) {
  return (std::size_t(f.groups) * sizeof(std::int32_t) + 63) / 64 * 64;
}

/// How many sums begin somewhere, and have a scale: the maps of each group, with those that fill up its last panel; and
/// where a map stands among them.
struct map_places {
  std::int64_t maps, width, count;
  map_places(const integer_filter_shape&, const integer_filters&);
  std::int64_t operator[](std::int64_t map) const { return map / maps * width + map % maps; }
};
/// Where sums begin, [map_places::count]: `add` [M] or nothing, less what x's zero point adds to them.
void fill_start(const integer_filter_shape&, const integer_filters&, const std::int32_t* add, bool x_is_signed,
                std::int32_t x_zero, std::int32_t* start);

/// One number, or one for each filter.
status check_filters(const value&, std::int64_t filters, std::string_view what);

/// Weights as they were packed while binding, or packed now.
result<integer_filters> weights_of(run_context&, const integer_conv_state&, const integer_filter_shape&, const value& w,
                                   const value& zero);

}  // namespace CAMEO_NAMESPACE::eps
