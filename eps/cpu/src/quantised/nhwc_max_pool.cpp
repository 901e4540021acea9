// The largest codes of windows of images whose channels are last. Apart from the other pools, which targets link
// without the loops over rows of codes.
#include <cameo/eps/cpu/pool.hpp>

#include <algorithm>
#include <limits>

#include "code_rows.hpp"
#include "common/refuse.hpp"
#include "convolution/outer_window.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// A line of outputs: each window is some rows of channels.
template <class T>
void most_of_pixels(const placed_window& w, const T* x, std::int64_t line, std::int64_t channels, T* y) {
  const window_axis& along = w.axes[w.rank - 1];
  const outer_window outer(w, line);
  for (std::int64_t o = 0; o < along.out; ++o, y += channels) {
    const std::int64_t first = along.first(o), count = along.last(o) - first;
    const std::int64_t at = o * along.stride - along.pad_begin + first * along.dilation;
    bool more = false;
    if (count > 0)
      outer.each_line(w, [&](std::int64_t start) {
        most_code_rows(x + (start + at) * channels, count, along.dilation * channels, more, y, channels);
        more = true;
      });
    if (!more) std::fill_n(y, channels, std::numeric_limits<T>::lowest());
  }
}

}  // namespace

template <class T>
result<nhwc_max_pool<T>> nhwc_max_pool<T>::bind(bind_context& c) {
  result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  return nhwc_max_pool{*shape};
}

template <class T>
status nhwc_max_pool<T>::run(run_context& c) const {
  const tensor_view<const T> x = c.input<T>(0);
  if (x.rank() < 3) return bad_input("input ", x.shape(), ", needs batch, an axis and channels");
  const std::int64_t channels = x.shape().back();
  extents front = x.shape();
  front.erase(front.rank() - 1);
  front.insert(1, channels);
  const result<placed_window> w = shape.place(front, shape.kernel, true);
  if (!w) return w.error();
  extents y_shape{front[0]};
  for (std::size_t i = 0; i < w->rank; ++i) y_shape.push_back(w->axes[i].out);
  y_shape.push_back(channels);
  const result<tensor_view<T>> y = c.output<T>(0, y_shape);
  if (!y || y->empty()) return y ? status{} : y.error();
  const std::int64_t width = w->axes[w->rank - 1].out * channels, lines = w->out_count() * channels / width;
  parallel_for(c, front[0] * lines, std::max<std::int64_t>(1, (1 << 16) / (width * w->taps())),
               [&](std::int64_t first, std::int64_t last) {
                 for (; first < last; ++first)
                   most_of_pixels(*w, x.data() + first / lines * w->in_count() * channels, first % lines, channels,
                                  y->data() + first * width);
               });
  return {};
}

template struct nhwc_max_pool<std::int8_t>;
template struct nhwc_max_pool<std::uint8_t>;

}  // namespace cameo::inline CAMEO_ABI::eps
