#include <cameo/eps/cpu/deform_conv.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/geometry/conv.hpp>
#include <cameo/op/read_window.hpp>

#include <cmath>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Interpolates linearly between the four elements around (y, x); elements outside the plane count as zero.
template <class C>
C sample(const C* plane, std::int64_t height, std::int64_t width, double y, double x) {
  if (!(y > -1 && y < double(height) && x > -1 && x < double(width))) return C(0);
  const auto top = std::int64_t(std::floor(y)), left = std::int64_t(std::floor(x));
  const double down = y - double(top), right = x - double(left);
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return i >= 0 && i < height && j >= 0 && j < width ? double(plane[i * width + j]) : 0.0;
  };
  return C((1 - down) * ((1 - right) * at(top, left) + right * at(top, left + 1)) +
           down * ((1 - right) * at(top + 1, left) + right * at(top + 1, left + 1)));
}

/// The sizes of a call, which were checked.
struct deform_sizes {
  window_axis v, h;
  std::int64_t taps = 0, pixels = 0, patch = 0;  // of a window; of an output plane; the elements of an image's patches

  static result<deform_sizes> make(const deform_conv& how, run_context& c) {
    const value &x = c.input(0), &w = c.input(1);
    if (x.shape.rank() != 4 || w.shape.rank() != 4)
      return refuse(status_code::not_implemented, "X ", x.shape, " and W ", w.shape, " must have two spatial axes");
    for (const value* v : {&x, &w})
      if (status s = usable_sizes("an input", v->shape); !s) return s;
    const result<geometry::conv> placed =
        geometry::conv_of<std::int64_t>(how.shape, how.groups, x.shape, w.shape, geometry::shape_of(c.input(3)));
    if (!placed) return placed.error();
    deform_sizes made{placed->window.axes[0], placed->window.axes[1]};
    made.taps = w.shape[2] * w.shape[3];
    std::int64_t shares = 0, shifts = 0;
    if (!checked_multiply(how.offset_groups, made.taps, shares) || !checked_multiply(shares, std::int64_t{2}, shifts) ||
        !checked_multiply(made.v.out, made.h.out, made.pixels) ||
        !checked_multiply(x.shape[1] * made.taps, made.pixels, made.patch))
      return status_code::out_of_memory;
    const std::int64_t images = x.shape[0], height = made.v.out, width = made.h.out;
    if (status s = check_shape("offset", c.input(2).shape, {images, shifts, height, width}); !s) return s;
    if (status s = check_input("mask", c.input(4), {images, shares, height, width}); !s) return s;
    return made;
  }
};

}  // namespace

result<deform_conv> deform_conv::bind(bind_context& c) {
  const attributes_of<op::DeformConv> a{c.attributes};
  return deform_conv{detail::window_of(a), a.group, a.offset_group};
}

template <class C>
status deform_conv::run_as(run_context& c) const {
  const value &x = c.input(0), &w = c.input(1), &offset = c.input(2), &bias = c.input(3), &mask = c.input(4);
  const result<deform_sizes> sizes = deform_sizes::make(*this, c);
  if (!sizes) return sizes.error();
  const window_axis &v = sizes->v, &h = sizes->h;
  const std::int64_t images = x.shape[0], channels = x.shape[1], filters = w.shape[0];
  const std::int64_t taps = sizes->taps, pixels = sizes->pixels;
  const result<value*> y = c.output(0, extents{images, filters, v.out, h.out});
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<const C*> added = wide_vector<C>(c, bias);
  const auto patches = c.scratch<C>(std::size_t(sizes->patch));
  const bool narrow = x.type != dtype_of<C>;
  const auto sums = c.scratch<C>(narrow ? std::size_t(filters * pixels) : 0);  // the sums of an image
  using rooms = row_rooms<C>;
  const auto planes = rooms::make(c, x, 1, v.in * h.in), moves = rooms::make(c, offset, 1, 2 * pixels),
             shares = mask ? rooms::make(c, mask, 1, pixels) : result<rooms>{rooms{}};
  if (!added || !patches || !sums || !planes || !moves || !shares) return status_code::out_of_memory;
  const std::int64_t per_offset = channels / offset_groups, rows = filters / groups, depth = w.shape[1] * taps;
  for (std::int64_t n = 0; n < images; ++n) {
    c.parallel_lanes(std::size_t(channels * taps), [&](std::size_t row, std::size_t lane) {
      const std::int64_t channel = std::int64_t(row) / taps, tap = std::int64_t(row) % taps;
      const std::int64_t place = (n * offset_groups + channel / per_offset) * taps + tap;
      const C *const down = moves->read(lane, 2 * place * pixels, 2 * pixels), *const right = down + pixels;
      const C* const share = mask ? shares->read(lane, place * pixels, pixels) : nullptr;
      const C* const plane = planes->read(lane, (n * channels + channel) * v.in * h.in, v.in * h.in);
      C* const to = patches->data() + std::int64_t(row) * pixels;
      for (std::int64_t o = 0; o < pixels; ++o) {
        const auto top = double(o / h.out * v.stride - v.pad_begin + tap / h.kernel * v.dilation);
        const auto left = double(o % h.out * h.stride - h.pad_begin + tap % h.kernel * h.dilation);
        const C read = sample(plane, v.in, h.in, top + double(down[o]), left + double(right[o]));
        to[o] = share ? read * share[o] : read;
      }
    });
    C* const made = narrow ? sums->data() : static_cast<C*>((*y)->data) + n * filters * pixels;
    for (std::int64_t g = 0; g < groups; ++g) {
      gemm_problem<C, C, or_narrow<C>> product{rows,
                                               pixels,
                                               depth,
                                               {source_of<C>(w) + g * rows * depth, depth, 1},
                                               {patches->data() + g * depth * pixels, pixels, 1},
                                               nullptr,
                                               made + g * rows * pixels};
      if (bias) product.epilogue.bias = *added + g * rows, product.epilogue.bias_row_stride = 1;
      if (status done = multiply(c, product); !done) return done;
    }
    parallel_elements(c, narrow ? filters * pixels : 0, 1 << 15, [&](std::int64_t first, std::int64_t last) {
      save_floats(made + first, **y, n * filters * pixels + first, last - first);
    });
  }
  return {};
}

status deform_conv::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
