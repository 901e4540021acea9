#include <cameo/eps/cpu/crop_and_resize.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <cmath>

#include "sampling.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The elements that a position of a crop lies between along one axis; `low` is -1 outside the image.
struct cropped_place {
  std::int64_t low, high;
  double rest;
};
cropped_place place_of(double from, double to, std::int64_t i, std::int64_t count, std::int64_t size, bool nearest) {
  const double last = double(size - 1);
  const double at =
      count > 1 ? from * last + double(i) * ((to - from) * last / double(count - 1)) : 0.5 * (from + to) * last;
  if (!(at >= 0 && at <= last)) return {-1, -1, 0};
  if (nearest) return {std::int64_t(std::round(at)), std::int64_t(std::round(at)), 0};
  const auto low = std::int64_t(std::floor(at));
  return {low, std::min(low + 1, size - 1), at - double(low)};
}

}  // namespace

result<crop_and_resize> crop_and_resize::bind(bind_context& c) {
  const attributes_of<op::microsoft::CropAndResize> a{c.attributes};
  return crop_and_resize{a.mode == op::crop_and_resize_mode_choice::nearest, a.extrapolation_value};
}

status crop_and_resize::run(run_context& c) const {
  const value &x = c.input(0), &rois = c.input(1), &batches = c.input(2), &sizes = c.input(3);
  if (status fits = check_regions(x, batches); !fits) return fits;
  const std::int64_t height = integers{sizes}[0], width = integers{sizes}[1];
  if (status s = check_at_least("crop_size", std::min(height, width), 1); !s) return s;
  const std::int64_t regions = rois.shape[0], channels = x.shape[1], h = x.shape[2], w = x.shape[3];
  const result<value*> y = c.output(0, extents{regions, channels, height, width});
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  if (status s = check_pixels(x); !s) return s;
  const auto rows = row_rooms<double>::make(c, **y, 1, width);
  if (!rows) return rows.error();
  parallel_each(c, regions * channels * height, 1 + 2048 / width, [&](std::int64_t row, std::size_t lane) {
    const std::int64_t i = row % height, channel = row / height % channels, region = row / height / channels;
    const std::int64_t plane = (integers{batches}[region] * channels + channel) * h * w;
    double roi[4];
    load_floats(rois, region * 4, roi, 4);
    const cropped_place v = place_of(roi[0], roi[2], i, height, h, nearest);
    double* const to = rows->room(lane, row * width);
    for (std::int64_t j = 0; j < width; ++j) {
      const cropped_place u = place_of(roi[1], roi[3], j, width, w, nearest);
      if (v.low < 0 || u.low < 0) {
        to[j] = double(outside);
        continue;
      }
      const auto at = [&](std::int64_t line, std::int64_t column) {
        return float_at<double>(x, plane + line * w + column);
      };
      const double top = at(v.low, u.low) + (at(v.low, u.high) - at(v.low, u.low)) * u.rest;
      const double bottom = at(v.high, u.low) + (at(v.high, u.high) - at(v.high, u.low)) * u.rest;
      to[j] = nearest ? at(v.low, u.low) : top + (bottom - top) * v.rest;
    }
    rows->store(lane, row * width, width);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
