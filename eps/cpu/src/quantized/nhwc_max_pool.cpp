// Max pools of 8-bit images with channels last. They are in a separate file, so that programs can link other pools
// without the loops over rows of quantized values.
#include <cameo/eps/cpu/nhwc_max_pool.hpp>
#include <cameo/op/read_window.hpp>

#include <algorithm>
#include <limits>

#include "code_rows.hpp"
#include "machine/parallel_rows.hpp"
#include "operands/scratch_of.hpp"
#include "windows/outer_window.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes a line of outputs: first the maximum of the lines of the image that a window spans, in the buffer `room`,
/// and then, for each window, the maximum of some pixels of that.
template <class T>
void most_of_pixels(const placed_window& w, const T* x, std::int64_t line, std::int64_t channels, T* room, T* y) {
  const window_axis& along = w.axes[w.rank - 1];
  const outer_window outer(w, line);
  const std::int64_t length = along.in * channels;
  bool more = false;
  if (w.rank == 2 && !outer.empty) {  // the lines have a constant distance
    const window_axis& down = w.axes[0];
    const std::int64_t first = outer.at[0] * down.stride - down.pad_begin + outer.first[0] * down.dilation;
    most_code_rows(x + first * length, outer.last[0] - outer.first[0], down.dilation * length, false, room, length);
    more = true;
  } else {
    outer.each_line(w, [&](std::int64_t start) {
      most_code_rows(x + start * channels, 1, 0, more, room, length);
      more = true;
    });
  }
  for (std::int64_t o = 0; o < along.out; ++o, y += channels) {
    const std::int64_t first = along.first(o), count = along.last(o) - first;
    const std::int64_t at = o * along.stride - along.pad_begin + first * along.dilation;
    if (more && count > 0) most_code_rows(room + at * channels, count, along.dilation * channels, false, y, channels);
    else std::fill_n(y, channels, std::numeric_limits<T>::lowest());
  }
}

}  // namespace

template <class T>
result<nhwc_max_pool<T>> nhwc_max_pool<T>::bind(bind_context& c) {
  return nhwc_max_pool{detail::window_of(attributes_of<op::MaxPool>{c.attributes})};
}

template <class T>
status nhwc_max_pool<T>::run(run_context& c) const {
  const tensor_view<const T> x = c.input<T>(0);
  const std::int64_t channels = x.shape().back();
  extents front = x.shape();
  front.erase(front.rank() - 1);
  front.insert(1, channels);
  const result<placed_window> w = shape.place<std::int64_t>(front, {}, true);
  if (!w) return w.error();
  extents y_shape{front[0]};
  for (std::size_t i = 0; i < w->rank; ++i) y_shape.push_back(w->axes[i].out);
  y_shape.push_back(channels);
  const result<tensor_view<T>> y = c.output<T>(0, y_shape);
  if (!y || y->empty()) return y ? status{} : y.error();
  const window_axis& along = w->axes[w->rank - 1];
  const auto rooms = scratch_of<T>(c, {std::int64_t(c.lanes()), along.in, channels});
  if (!rooms) return rooms.error();
  const std::int64_t length = along.in * channels, width = along.out * channels, lines = w->out_count() / along.out;
  parallel_each(c, front[0] * lines, grain_of(1 << 16, width * w->taps()), [&](std::int64_t l, std::size_t lane) {
    most_of_pixels(*w, x.data() + l / lines * w->in_count() * channels, l % lines, channels,
                   *rooms + std::int64_t(lane) * length, y->data() + l * width);
  });
  return {};
}

template struct nhwc_max_pool<std::int8_t>;
template struct nhwc_max_pool<std::uint8_t>;

}  // namespace CAMEO_NAMESPACE::eps
