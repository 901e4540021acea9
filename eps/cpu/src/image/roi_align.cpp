#include <cameo/eps/cpu/roi_align.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>

#include "sampling.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A region along one axis: where its bins start, their size, and the number of samples of each.
struct region_axis {
  double start, bin;
  std::int64_t samples;
};
/// The largest number of samples of a bin along an axis; far more than any image has elements.
constexpr double most_samples = 1 << 20;

status place_axis(double from, double to, std::int64_t bins, const roi_align& how, region_axis& out) {
  const double offset = how.half_pixel ? 0.5 : 0, start = from * how.scale - offset;
  double length = to * how.scale - offset - start;
  if (!how.half_pixel) length = std::max(length, 1.0);
  const double samples = how.samples > 0 ? double(how.samples) : std::ceil(length / double(bins));
  if (!(std::abs(start) < 1e15 && std::abs(length) < 1e15 && samples <= most_samples))
    return bad_input("a region has borders that are not numbers or far too large");
  out = {start, length / double(bins), std::max<std::int64_t>(0, std::int64_t(samples))};
  return {};
}

/// The two elements around a position and their weights.
struct neighbors {
  std::int64_t low, high;
  double low_weight, high_weight;
};
bool around(double x, std::int64_t size, neighbors& out) {
  if (!(x >= -1 && x <= double(size))) return false;
  x = std::max(x, 0.0);
  const auto low = std::int64_t(x);
  if (low >= size - 1) return out = {size - 1, size - 1, 1, 0}, true;
  out = {low, low + 1, 1 - (x - double(low)), x - double(low)};
  return true;
}

template <class C>
double pool_bin(const C* plane, std::int64_t height, std::int64_t width, const region_axis& y, const region_axis& x,
                std::int64_t row, std::int64_t column, bool largest) {
  double sum = 0;
  bool first = true;
  for (std::int64_t i = 0; i < y.samples; ++i) {
    neighbors v{};
    const bool inside = around(y.start + (double(row) + (double(i) + 0.5) / double(y.samples)) * y.bin, height, v);
    for (std::int64_t j = 0; j < x.samples; ++j) {
      neighbors h{};
      double parts[4] = {};
      if (inside && around(x.start + (double(column) + (double(j) + 0.5) / double(x.samples)) * x.bin, width, h)) {
        parts[0] = v.low_weight * h.low_weight * double(plane[v.low * width + h.low]);
        parts[1] = v.low_weight * h.high_weight * double(plane[v.low * width + h.high]);
        parts[2] = v.high_weight * h.low_weight * double(plane[v.high * width + h.low]);
        parts[3] = v.high_weight * h.high_weight * double(plane[v.high * width + h.high]);
      }
      if (!largest) {
        sum += parts[0] + parts[1] + parts[2] + parts[3];
      } else {
        const double most = std::max(std::max(parts[0], parts[1]), std::max(parts[2], parts[3]));
        sum = first ? most : std::max(sum, most);
        first = false;
      }
    }
  }
  return largest ? sum : sum / double(std::max<std::int64_t>(1, y.samples * x.samples));
}

}  // namespace

result<roi_align> roi_align::bind(bind_context& c) {
  const attributes_of<op::RoiAlign> a{c.attributes};
  roi_align made;
  made.height = a.output_height, made.width = a.output_width;
  made.samples = a.sampling_ratio, made.scale = double(a.spatial_scale);
  made.largest = a.mode == op::roi_align_mode_choice::max;
  made.half_pixel = c.since >= 16 &&
                    a.coordinate_transformation_mode == op::roi_align_coordinate_transformation_mode_choice::half_pixel;
  return made;
}

template <class C>
status roi_align::run_as(run_context& c) const {
  const value &x = c.input(0), &rois = c.input(1), &batches = c.input(2);
  if (status fits = check_regions(x, batches); !fits) return fits;
  const std::int64_t regions = rois.shape[0], channels = x.shape[1], h = x.shape[2], w = x.shape[3];
  const integers image{batches};
  const result<value*> y = c.output(0, extents{regions, channels, height, width});
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  if (status s = check_pixels(x); !s) return s;
  const auto placed = c.scratch<region_axis>(2 * std::size_t(regions));
  if (!placed) return placed.error();
  for (std::int64_t i = 0; i < regions; ++i) {
    double r[4];
    load_floats(rois, i * 4, r, 4);
    region_axis* const axes = placed->data() + i * 2;
    if (status fits = place_axis(r[1], r[3], height, *this, axes[0]); !fits) return fits;
    if (status fits = place_axis(r[0], r[2], width, *this, axes[1]); !fits) return fits;
  }
  const auto planes = row_rooms<C>::make(c, x, 1, h * w), out = row_rooms<C>::make(c, **y, 1, height * width);
  if (!planes || !out) return status_code::out_of_memory;
  constexpr std::int64_t some = 8;  // the number of regions that share one conversion of a plane to C
  const std::int64_t blocks = (regions + some - 1) / some;
  c.parallel_lanes(std::size_t(blocks * channels), [&](std::size_t task, std::size_t lane) {
    const std::int64_t block = std::int64_t(task) / channels, channel = std::int64_t(task) % channels;
    const C* in = nullptr;
    for (std::int64_t r = block * some, before = -1; r < std::min(regions, (block + 1) * some); before = image[r++]) {
      if (image[r] != before) in = planes->read(lane, (image[r] * channels + channel) * h * w, h * w);
      const region_axis* const axes = placed->data() + r * 2;
      const std::int64_t at = (r * channels + channel) * height * width;
      C* const to = out->room(lane, at);
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          to[i * width + j] = C(pool_bin(in, h, w, axes[0], axes[1], i, j, largest));
      out->store(lane, at, height * width);
    }
  });
  return {};
}

status roi_align::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
