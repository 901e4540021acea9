// Average pools of quantized images. The sum of a window is an integer, so that the order of additions does not matter:
// whole lines are added, of pixels with their channels, or of single channels if those come first.
#include <cameo/eps/cpu/qlinear.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/read_window.hpp>

#include "code_rows.hpp"
#include "linear_code.hpp"
#include "machine/lane_scratch.hpp"
#include "machine/parallel_rows.hpp"
#include "operands/refuse.hpp"
#include "windows/outer_window.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The number of values whose sum fits in int32.
constexpr std::int64_t most_in_sum = 1 << 22;
/// The number of outputs that are quantized at a time.
constexpr std::int64_t finish_block = 256;

/// Quantizes the means of windows: sums of `inside` elements, divided by `counted` (which may include padding).
void write_means(const std::int32_t* sums, const linear_code& from, const linear_code& to, std::int64_t inside,
                 std::int64_t counted, std::uint8_t* y, std::int64_t n) {
  float means[finish_block];
  for (std::int64_t i = 0; i < n; i += finish_block) {
    const std::int64_t m = std::min(finish_block, n - i);
    means_of_windows(sums + i, inside, from.zero, from.scale, counted, means, m);
    write_codes(to, means, y + i, m);
  }
}

/// Quantizes the means of whole images.
void write_global_means(const double* sums, const linear_code& from, const linear_code& to, std::int64_t points,
                        std::uint8_t* y, std::int64_t n) {
  float means[finish_block];
  for (std::int64_t i = 0; i < n; ++i)
    means[i] = float((sums[i] / double(points) - double(from.zero)) * double(from.scale));
  write_codes(to, means, y, n);
}

/// Pools n channels (finish_block at most) of an image [points, channels], from `x` on.
template <class T>
void pool_columns(const T* x, std::int64_t points, std::int64_t channels, const linear_code& from,
                  const linear_code& to, std::uint8_t* y, std::int64_t n) {
  std::int32_t part[finish_block];
  double sums[finish_block] = {};
  for (std::int64_t p = 0; p < points; p += most_in_sum) {
    sum_code_rows(x + p * channels, std::min(most_in_sum, points - p), channels, false, part, n);
    for (std::int64_t i = 0; i < n; ++i) sums[i] += double(part[i]);
  }
  write_global_means(sums, from, to, points, y, n);
}
/// Pools planes [first, last), each of `points` elements.
template <class T>
void pool_planes(const T* x, std::int64_t points, const linear_code& from, const linear_code& to, std::uint8_t* y,
                 std::int64_t first, std::int64_t last) {
  double sums[finish_block];
  for (; first < last; first += finish_block) {
    const std::int64_t n = std::min(finish_block, last - first);
    for (std::int64_t i = 0; i < n; ++i) sums[i] = double(sum_of_codes(x + (first + i) * points, points));
    write_global_means(sums, from, to, points, y + first, n);
  }
}

}  // namespace

result<qlinear_global_average_pool> qlinear_global_average_pool::bind(bind_context& c) {
  const dtype type = c.inputs[0].type;
  const attributes_of<op::microsoft::QLinearGlobalAveragePool> a{c.attributes};
  return qlinear_global_average_pool{a.channels_last != 0, linear_code_inputs::bind(c, type, 1, 2),
                                     linear_code_inputs::bind(c, type, 3, 4)};
}

status qlinear_global_average_pool::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> x_code = input.read(c, x.type), y_code = output.read(c, x.type);
  if (!x_code) return x_code.error();
  if (!y_code) return y_code.error();
  const std::size_t rank = x.shape.rank();
  extents shape = x.shape;
  for (std::size_t i = channels_last ? 1 : 2; i < rank - (channels_last ? 1 : 0); ++i) shape[i] = 1;
  const result<value*> y = c.output(0, shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const std::int64_t channels = channels_last ? x.shape.back() : x.shape[1];
  const std::int64_t points = x.shape.count() / (*y)->shape.count();
  with_codes(x.type, [&]<class T>(std::type_identity<T>) {
    const auto* const in = static_cast<const T*>(x.data);
    if (!channels_last) {
      parallel_for(c, shape.count(), grain_of(codes_at_once, points), [&](std::int64_t begin, std::int64_t end) {
        pool_planes(in, points, *x_code, *y_code, codes(**y), begin, end);
      });
      return;
    }
    const std::int64_t width =
        std::min<std::int64_t>(channels, points * finish_block > codes_at_once ? 64 : finish_block);
    const std::int64_t blocks = (channels + width - 1) / width;
    const std::int64_t grain = grain_of(codes_at_once, points * width);
    parallel_each_row(c, x.shape[0] * blocks, grain, [&](std::int64_t i, std::size_t) {
      const std::int64_t image = i / blocks, at = i % blocks * width;
      pool_columns(in + image * points * channels + at, points, channels, *x_code, *y_code,
                   codes(**y) + image * channels + at, std::min(width, channels - at));
    });
  });
  return {};
}

result<qlinear_average_pool> qlinear_average_pool::bind(bind_context& c) {
  const attributes_of<op::microsoft::QLinearAveragePool> a{c.attributes};
  const dtype type = c.inputs[0].type;
  return qlinear_average_pool{detail::window_of(a), a.count_include_pad != 0, a.channels_last != 0,
                              linear_code_inputs::bind(c, type, 1, 2), linear_code_inputs::bind(c, type, 3, 4)};
}

namespace {

struct average_job {
  const placed_window& w;
  const linear_code &x_code, &y_code;
  std::int64_t channels, taps;
  bool include_pad;

  const window_axis& along() const { return w.axes[w.rank - 1]; }
  /// The elements of the windows of a line that are inside the image, without the last axis.
  std::int64_t lines_inside(const outer_window& outer) const {
    std::int64_t lines = 1;
    for (std::size_t i = 0; i + 1 < w.rank; ++i) lines *= std::max<std::int64_t>(0, outer.last[i] - outer.first[i]);
    return lines;
  }

  /// Computes a line of outputs of an image with channels last.
  template <class T>
  void channels_last_line(const T* x, std::int64_t line, std::int32_t* sums, std::uint8_t* y) const {
    const outer_window outer(w, line);
    const std::int64_t lines = lines_inside(outer);
    for (std::int64_t o = 0; o < along().out; ++o, y += channels) {
      const std::int64_t first = along().first(o), count = std::max<std::int64_t>(0, along().last(o) - first);
      const std::int64_t at = o * along().stride - along().pad_begin + first * along().dilation;
      bool more = false;
      if (count > 0)
        outer.each_line(w, [&](std::int64_t start) {
          sum_code_rows(x + (start + at) * channels, count, along().dilation * channels, more, sums, channels);
          more = true;
        });
      if (!more) std::fill_n(sums, channels, 0);
      const std::int64_t inside = lines * count;
      write_means(sums, x_code, y_code, inside, include_pad ? taps : inside, y, channels);
    }
  }

  /// Computes a line of outputs of one channel: adds the lines of the image that windows span, and then the elements of
  /// each window along that sum.
  template <class T>
  void channels_first_line(const T* x, std::int64_t line, std::int32_t* room, std::uint8_t* y) const {
    const window_axis& axis = along();
    const outer_window outer(w, line);
    const std::int64_t lines = lines_inside(outer);
    std::int32_t* const sums = room + axis.in;
    bool more = false;
    outer.each_line(w, [&](std::int64_t start) {
      sum_code_rows(x + start, 1, 0, more, room, axis.in);
      more = true;
    });
    if (!more) std::fill_n(room, axis.in, 0);
    std::fill_n(sums, axis.out, 0);
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const window_axis::range o = axis.outputs_of(k);
      const std::int32_t* const from_here = room + (o.begin * axis.stride - axis.pad_begin + k * axis.dilation);
      for (std::int64_t i = 0; i < o.end - o.begin; ++i) sums[o.begin + i] += from_here[i * axis.stride];
    }
    for (std::int64_t o = 0; o < axis.out;) {  // neighboring windows with the same number of elements are one call
      const std::int64_t count = axis.elements(o, false);
      std::int64_t end = o + 1;
      while (end < axis.out && axis.elements(end, false) == count) ++end;
      write_means(sums + o, x_code, y_code, lines * count, include_pad ? taps : lines * count, y + o, end - o);
      o = end;
    }
  }
};

}  // namespace

status qlinear_average_pool::run(run_context& c) const {
  const value& x = c.input(0);
  const result<linear_code> x_code = input.read(c, x.type), y_code = output.read(c, x.type);
  if (!x_code) return x_code.error();
  if (!y_code) return y_code.error();
  extents first_channels = x.shape;  // [N, C, ...]
  if (channels_last) {
    first_channels.insert(1, x.shape.back());
    first_channels.resize(x.shape.rank());
  }
  const result<placed_window> w = shape.place<std::int64_t>(first_channels, {}, true);
  if (!w) return w.error();
  if (status s = check_fits("the window", w->taps() <= most_in_sum); !s) return s;
  extents y_shape{x.shape[0]};
  if (!channels_last) y_shape.push_back(first_channels[1]);
  for (std::size_t i = 0; i < w->rank; ++i) y_shape.push_back(w->axes[i].out);
  if (channels_last) y_shape.push_back(first_channels[1]);
  const result<value*> y = c.output(0, y_shape);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const average_job job{*w, *x_code, *y_code, first_channels[1], w->taps(), include_pad};
  const window_axis& along = job.along();
  const std::int64_t planes = channels_last ? x.shape[0] : x.shape[0] * job.channels;
  const std::int64_t lines = w->out_count() / along.out, width = channels_last ? job.channels : 1;
  const std::int64_t room_size = channels_last ? job.channels : along.in + along.out;
  const auto rooms = lane_scratch<std::int32_t>::make(c, std::size_t(room_size));
  if (!rooms) return rooms.error();
  const std::int64_t work = along.out * job.taps * width;
  parallel_each(c, planes * lines, grain_of(codes_at_once, work), [&](std::int64_t l, std::size_t lane) {
    std::int32_t* const room = rooms->at(lane);
    const std::int64_t in = l / lines * w->in_count() * width;
    std::uint8_t* const out = codes(**y) + l * along.out * width;
    with_codes(x.type, [&]<class T>(std::type_identity<T>) {
      const T* const image = static_cast<const T*>(x.data) + in;
      if (channels_last) job.channels_last_line(image, l % lines, room, out);
      else job.channels_first_line(image, l % lines, room, out);
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
