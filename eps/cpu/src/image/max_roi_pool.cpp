#include <cameo/eps/cpu/max_roi_pool.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A region along one axis, in whole pixels.
struct pooled_axis {
  std::int64_t start, length;
  /// Sets the elements [first, last) of bin i that lie inside the image.
  void bin(std::int64_t i, std::int64_t bins, std::int64_t size, std::int64_t& first, std::int64_t& last) const {
    const float step = float(length) / float(bins);
    first = std::clamp<std::int64_t>(std::int64_t(std::floor(float(i) * step)) + start, 0, size);
    last = std::clamp<std::int64_t>(std::int64_t(std::ceil(float(i + 1) * step)) + start, 0, size);
  }
};
bool place_region(double from, double to, float scale, pooled_axis& out) {
  const float start = std::round(float(from) * scale), end = std::round(float(to) * scale);
  if (!(std::abs(start) < 1e9f && std::abs(end) < 1e9f)) return false;
  out = {std::int64_t(start), std::max<std::int64_t>(std::int64_t(end) - std::int64_t(start) + 1, 1)};
  return true;
}

}  // namespace

result<max_roi_pool> max_roi_pool::bind(bind_context& c) {
  const attributes_of<op::MaxRoiPool> a{c.attributes};
  return max_roi_pool{a.pooled_shape[0], a.pooled_shape[1], a.spatial_scale};
}

template <class C>
status max_roi_pool::run_as(run_context& c) const {
  const value &x = c.input(0), &rois = c.input(1);
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const std::int64_t regions = rois.shape[0], channels = x.shape[1], h = x.shape[2], w = x.shape[3];
  const result<value*> y = c.output(0, extents{regions, channels, height, width});
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const auto placed = c.scratch<pooled_axis>(2 * std::size_t(regions));
  const auto images = c.scratch<std::int64_t>(std::size_t(regions));
  if (!placed || !images) return status_code::out_of_memory;
  for (std::int64_t i = 0; i < regions; ++i) {
    double r[5];
    load_floats(rois, i * 5, r, 5);
    std::int64_t& image = (*images)[std::size_t(i)];
    if (!(r[0] >= 0) || !to_integer(r[0], image)) image = -1;
    if (status s = check_element("rois", image, 0, x.shape[0] - 1); !s) return s;
    if (!place_region(r[2], r[4], scale, (*placed)[std::size_t(2 * i)]) ||
        !place_region(r[1], r[3], scale, (*placed)[std::size_t(2 * i + 1)]))
      return bad_input("region ", i, " has borders that are not numbers or far too large");
  }
  const auto planes = row_rooms<C>::make(c, x, 1, h * w), out = row_rooms<C>::make(c, **y, 1, height * width);
  if (!planes || !out) return status_code::out_of_memory;
  c.parallel_lanes(std::size_t(regions * channels), [&](std::size_t task, std::size_t lane) {
    const std::int64_t region = std::int64_t(task) / channels, channel = std::int64_t(task) % channels;
    const C* const plane = planes->read(lane, ((*images)[std::size_t(region)] * channels + channel) * h * w, h * w);
    const pooled_axis &down = (*placed)[std::size_t(2 * region)], &across = (*placed)[std::size_t(2 * region + 1)];
    const std::int64_t at = std::int64_t(task) * height * width;
    C* const to = out->room(lane, at);
    for (std::int64_t i = 0; i < height; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        std::int64_t top = 0, bottom = 0, left = 0, right = 0;
        down.bin(i, height, h, top, bottom), across.bin(j, width, w, left, right);
        const bool none = bottom <= top || right <= left;
        C most = none ? C(0) : std::numeric_limits<C>::lowest();
        for (std::int64_t r = top; r < bottom; ++r)
          for (std::int64_t k = left; k < right; ++k) most = std::max(most, plane[r * w + k]);
        to[i * width + j] = most;
      }
    out->store(lane, at, height * width);
  });
  return {};
}

status max_roi_pool::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
