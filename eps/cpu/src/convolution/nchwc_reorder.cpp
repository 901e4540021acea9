#include <cameo/eps/cpu/nchwc_reorder.hpp>
#include <cameo/op/attributes/nchwc.hpp>

#include "machine/parallel_rows.hpp"
#include "microkernels/nchwc.hpp"
#include "microkernels/nchwc_kernels.hpp"
#include "operands/refuse.hpp"
#include "operands/usable_sizes.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Calls f(image, block of channels, first pixel, pixels) for runs of pixels of about 2^14 elements each.
template <class F>
void each_pixel_run(run_context& c, std::int64_t images, std::int64_t blocks, std::int64_t plane, const F& f) {
  if (images * blocks * plane == 0) return;
  constexpr std::int64_t run = 1 << 10;
  const std::int64_t runs = (plane + run - 1) / run, all = images * blocks * runs;
  const std::int64_t grain = grain_of(1 << 13, std::min(plane, run));
  parallel_each_row(c, all, all * std::min(plane, run) < (1 << 14) ? all : grain, [&](std::int64_t i, std::size_t) {
    const std::int64_t at = i % runs * run, b = i / runs;
    f(b / blocks, b % blocks, at, std::min(run, plane - at));
  });
}

}  // namespace

result<nchwc_reorder_input> nchwc_reorder_input::bind(bind_context& c) {
  return nchwc_reorder_input{attributes_of<op::nchwc::ReorderInput>{c.attributes}.channels_last != 0,
                             &best_nchwc_kernels()};
}

status nchwc_reorder_input::run(run_context& c) const {
  const extents& x = c.input(0).shape;
  if (status s = usable_sizes("input", x); !s) return s;
  const std::int64_t channels = x[channels_last ? 3 : 1], height = x[channels_last ? 1 : 2],
                     width = x[channels_last ? 2 : 3], plane = height * width;
  if (channels > INT64_MAX - channel_block) return status_code::out_of_memory;
  const std::int64_t blocks = blocks_of(channels);
  result<tensor_view<float>> y = c.output<float>(0, {x[0], blocks * channel_block, height, width});
  if (!y) return y.error();
  const float* const from = c.input<float>(0).data();
  float* const to = y->data();
  each_pixel_run(c, x[0], blocks, plane, [&](std::int64_t n, std::int64_t b, std::int64_t at, std::int64_t count) {
    float* out = to + ((n * blocks + b) * plane + at) * channel_block;
    const std::int64_t lanes = std::min(channel_block, channels - b * channel_block);
    if (!channels_last)
      return loops->block(from + (n * channels + b * channel_block) * plane + at, plane, lanes, count, out);
    const float* in = from + (n * plane + at) * channels + b * channel_block;
    for (std::int64_t i = 0; i < count; ++i, in += channels, out += channel_block)
      std::fill_n(std::copy_n(in, lanes, out), channel_block - lanes, 0.0f);
  });
  return {};
}

result<nchwc_reorder_output> nchwc_reorder_output::bind(bind_context& c) {
  const attributes_of<op::nchwc::ReorderOutput> a{c.attributes};
  return nchwc_reorder_output{a.channels, a.channels_last != 0, &best_nchwc_kernels()};
}

status nchwc_reorder_output::run(run_context& c) const {
  const extents& x = c.input(0).shape;
  if (status s = usable_sizes("input", x); !s) return s;
  if (status s = check_shape("X", x, {x[0], blocks_of(channels) * channel_block, x[2], x[3]}); !s) return s;
  const std::int64_t plane = x[2] * x[3], blocks = x[1] / channel_block;
  result<tensor_view<float>> y = channels_last ? c.output<float>(0, {x[0], x[2], x[3], channels})
                                               : c.output<float>(0, {x[0], channels, x[2], x[3]});
  if (!y) return y.error();
  const float* const from = c.input<float>(0).data();
  float* const to = y->data();
  each_pixel_run(c, x[0], blocks, plane, [&](std::int64_t n, std::int64_t b, std::int64_t at, std::int64_t count) {
    const float* in = from + ((n * blocks + b) * plane + at) * channel_block;
    const std::int64_t lanes = std::min(channel_block, channels - b * channel_block);
    if (!channels_last)
      return loops->unblock(in, plane, lanes, count, to + (n * channels + b * channel_block) * plane + at);
    float* out = to + (n * plane + at) * channels + b * channel_block;
    for (std::int64_t i = 0; i < count; ++i, out += channels, in += channel_block) std::copy_n(in, lanes, out);
  });
  return {};
}

namespace {

/// A position between two pixels along an axis: their indices, and the weight of the second.
struct interpolated_position {
  std::int64_t first, second;
  float share;
  using coordinates = nchwc_upsample::coordinates;

  interpolated_position(coordinates how, std::int64_t o, std::int64_t scale, std::int64_t in, std::int64_t out) {
    float at = float(o) / float(scale);
    if (how == coordinates::align_corners) at = out > 1 ? float(o) * float(in - 1) / float(out - 1) : 0.0f;
    else if (how == coordinates::half_pixel) at = std::max(0.0f, (float(o) + 0.5f) / float(scale) - 0.5f);
    first = std::min(std::int64_t(at), in - 1), second = std::min(first + 1, in - 1);
    share = std::min(1.0f, at - float(first));
  }
};

}  // namespace

result<nchwc_upsample> nchwc_upsample::bind(bind_context& c) {
  nchwc_upsample made;
  const attributes_of<op::nchwc::Upsample> a{c.attributes};
  if (a.scales[0] != 1 || a.scales[1] != 1) return bad_attribute("scales must be 1, 1 and two factors of at least 1");
  made.scales[0] = a.scales[2], made.scales[1] = a.scales[3];
  made.is_linear = a.mode == op::upsample_mode_choice::linear, made.points = a.coordinate_transformation_mode;
  return made;
}

status nchwc_upsample::run(run_context& c) const {
  const extents& x = c.input(0).shape;
  const std::int64_t height = x[2], width = x[3];
  extents y_shape = x;
  if (!checked_multiply(height, scales[0], y_shape[2]) || !checked_multiply(width, scales[1], y_shape[3]))
    return status_code::out_of_memory;
  result<tensor_view<float>> y = c.output<float>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return {};
  const float* const from = c.input<float>(0).data();
  float* const to = y->data();
  const std::int64_t out_height = y_shape[2], out_width = y_shape[3], line = width * channel_block;
  const std::int64_t lines = x[0] * (x[1] / channel_block) * out_height;
  parallel_each_row(c, lines, grain_of(1 << 13, out_width), [&](std::int64_t l, std::size_t) {
    const float* const plane = from + l / out_height * height * line;
    float* out = to + l * out_width * channel_block;
    if (!is_linear) {
      const float* in = plane + l % out_height / scales[0] * line;
      for (std::int64_t i = 0; i < width; ++i, in += channel_block)
        for (std::int64_t s = 0; s < scales[1]; ++s) out = std::copy_n(in, channel_block, out);
      return;
    }
    const interpolated_position row(points, l % out_height, scales[0], height, out_height);
    const float *const top = plane + row.first * line, *const bottom = plane + row.second * line;
    for (std::int64_t o = 0; o < out_width; ++o, out += channel_block) {
      const interpolated_position pixel(points, o, scales[1], width, out_width);
      const std::int64_t a = pixel.first * channel_block, b = pixel.second * channel_block;
      for (std::int64_t i = 0; i < channel_block; ++i) {
        const float upper = top[a + i] + pixel.share * (top[b + i] - top[a + i]);
        const float lower = bottom[a + i] + pixel.share * (bottom[b + i] - bottom[a + i]);
        out[i] = upper + row.share * (lower - upper);
      }
    }
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
