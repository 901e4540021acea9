#include <cameo/eps/cpu/integer_conv.hpp>

#include "common/refuse.hpp"
#include "elementwise/cast_rows.hpp"
#include "quantized.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// x or w as int32 without zero points: one, or one per block of `block` elements.
result<std::span<std::int32_t>> without_zero(run_context& c, const value& v, const value& zero, std::int64_t block) {
  const std::int64_t count = v.shape.count(), zeros = zero ? zero.shape.count() : 0;
  result<std::span<std::int32_t>> made = c.scratch<std::int32_t>(std::size_t(count));
  if (!made) return made;
  std::int64_t wide[cast_block];
  for (std::int64_t first = 0; first < count; first += cast_block) {
    const std::int64_t n = std::min(cast_block, count - first);
    read_wide<std::int64_t>(v.type, v.data, first, wide, n);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t point = 0;
      if (zeros > 0) read_wide<std::int64_t>(zero.type, zero.data, zeros == 1 ? 0 : (first + i) / block, &point, 1);
      (*made)[std::size_t(first + i)] = std::int32_t(wide[i] - point);
    }
  }
  return made;
}

struct integer_problem {
  placed_window window;
  std::int64_t images, channels, filters, group_channels, group_filters;
  extents y;
};
result<integer_problem> place(const integer_conv_state& state, const value& x, const value& w) {
  if (x.shape.rank() < 3 || w.shape.rank() != x.shape.rank())
    return bad_input("x ", x.shape, " and w ", w.shape, " need the same rank, at least 3");
  integer_problem p{{}, x.shape[0], x.shape[1], w.shape[0], w.shape[1], 0, {x.shape[0], w.shape[0]}};
  std::int64_t needed = 0;
  if (!checked_multiply(p.group_channels, state.groups, needed) || needed != p.channels || p.filters % state.groups)
    return bad_input("x ", x.shape, " and w ", w.shape, " don't fit ", state.groups, " groups");
  p.group_filters = p.filters / state.groups;
  const std::span<const std::int64_t> kernel = w.shape.dims().subspan(2);
  for (std::size_t i = 0; i < state.shape.kernel.size(); ++i)
    if (state.shape.kernel.size() != kernel.size() || state.shape.kernel[i] != kernel[i])
      return bad_input("kernel_shape ", extents{state.shape.kernel}, " is not what w ", w.shape, " has");
  const result<placed_window> placed = state.shape.place(x.shape, kernel);
  if (!placed) return placed.error();
  p.window = *placed;
  for (std::size_t i = 0; i < placed->rank; ++i) p.y.push_back(placed->axes[i].out);
  return p;
}

/// sum[out...] += factor * x[in...] for one tap of the window: all outputs whose tap lies inside.
void add_tap(const placed_window& window, const std::int64_t* tap, const std::int32_t* x, std::uint32_t factor,
             std::int32_t* sum) {
  const std::size_t last = window.rank - 1;
  window_axis::range ranges[max_spatial];
  std::int64_t rows = 1, at[max_spatial];
  for (std::size_t i = 0; i <= last; ++i) {
    ranges[i] = window.axes[i].outputs_of(tap[i]);
    if (ranges[i].begin >= ranges[i].end) return;
    if (i < last) rows *= ranges[i].end - ranges[i].begin;
    at[i] = ranges[i].begin;
  }
  const window_axis& along = window.axes[last];
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t from = 0, to = 0;
    for (std::size_t i = 0; i <= last; ++i) {
      const window_axis& axis = window.axes[i];
      from = from * axis.in + at[i] * axis.stride - axis.pad_begin + tap[i] * axis.dilation;
      to = to * axis.out + at[i];
    }
    for (std::int64_t o = 0; o < ranges[last].end - ranges[last].begin; ++o)
      sum[to + o] = std::int32_t(std::uint32_t(sum[to + o]) + factor * std::uint32_t(x[from + o * along.stride]));
    for (std::size_t i = last; i-- > 0;) {
      if (++at[i] < ranges[i].end) break;
      at[i] = ranges[i].begin;
    }
  }
}

/// The sums of one filter over one image.
void convolve(const integer_problem& p, const std::int32_t* x, const std::int32_t* w, std::int32_t* sum) {
  const std::int64_t taps = p.window.taps(), plane = p.window.in_count();
  std::fill_n(sum, p.window.out_count(), 0);
  for (std::int64_t channel = 0; channel < p.group_channels; ++channel) {
    for (std::int64_t t = 0; t < taps; ++t) {
      const std::int32_t factor = w[channel * taps + t];
      if (factor == 0) continue;
      std::int64_t tap[max_spatial], rest = t;
      for (std::size_t i = p.window.rank; i-- > 0; rest /= p.window.axes[i].kernel)
        tap[i] = rest % p.window.axes[i].kernel;
      add_tap(p.window, tap, x + channel * plane, std::uint32_t(factor), sum);
    }
  }
}

status check_filters(const value& v, std::int64_t filters, std::string_view what) {
  if (!v || v.shape.count() == 1 || (v.shape.rank() == 1 && v.shape[0] == filters)) return {};
  return bad_input(what, " ", v.shape, " must be one number or ", filters, ", one per filter");
}
status check_single(const value& v, std::string_view what) {
  if (!v || v.shape.count() == 1) return {};
  return bad_input(what, " ", v.shape, " must be one number");
}

/// f(image, filter, sum) with out_count sums, for all images and filters; `into` says where the sums go.
template <class Into, class F>
void each_plane(run_context& c, const integer_problem& p, std::span<const std::int32_t> x,
                std::span<const std::int32_t> w, const Into& into, const F& f) {
  const std::int64_t filter_size = p.group_channels * p.window.taps(), plane = p.window.in_count();
  c.parallel_lanes(std::size_t(p.images * p.filters), [&](std::size_t unit, std::size_t lane) {
    const std::int64_t image = std::int64_t(unit) / p.filters, filter = std::int64_t(unit) % p.filters;
    const std::int64_t channel = filter / p.group_filters * p.group_channels;
    std::int32_t* const sum = into(std::int64_t(unit), std::int64_t(lane));
    convolve(p, x.data() + (image * p.channels + channel) * plane, w.data() + filter * filter_size, sum);
    f(std::int64_t(unit), filter, sum);
  });
}

/// [N, in..., C] of bytes as [N, C, in...], in scratch memory.
status channels_to_front(run_context& c, value& x) {
  if (x.shape.rank() < 3) return bad_input("x ", x.shape, " needs batch, an axis and channels");
  const std::int64_t channels = x.shape.back(), plane = x.shape.count(1, x.shape.rank() - 1);
  const result<std::span<std::uint8_t>> made = c.scratch<std::uint8_t>(x.bytes());
  if (!made) return made.error();
  const auto* from = static_cast<const std::uint8_t*>(x.data);
  for (std::int64_t image = 0; image < x.shape[0]; ++image)
    for (std::int64_t i = 0; i < plane; ++i)
      for (std::int64_t channel = 0; channel < channels; ++channel)
        (*made)[std::size_t((image * channels + channel) * plane + i)] = *from++;
  x.shape.erase(x.shape.rank() - 1);
  x.shape.insert(1, channels);
  x.data = made->data();
  return {};
}
extents with_channels_last(extents y) {
  const std::int64_t channels = y[1];
  y.erase(1);
  y.push_back(channels);
  return y;
}

}  // namespace

result<integer_conv_state> integer_conv_state::of(const bind_context& c) {
  const result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  const std::int64_t groups = c.int_or("group", 1);
  if (groups < 1) return bad_attribute("group must be at least 1, not ", groups);
  return integer_conv_state{*shape, groups};
}
result<conv_integer> conv_integer::bind(bind_context& c) {
  const result<integer_conv_state> state = integer_conv_state::of(c);
  if (!state) return state.error();
  return conv_integer{*state};
}
result<qlinear_conv> qlinear_conv::bind(bind_context& c) {
  const result<integer_conv_state> state = integer_conv_state::of(c);
  if (!state) return state.error();
  return qlinear_conv{*state, c.int_or("channels_last", 0) != 0};
}

status conv_integer::run(run_context& c) const {
  const value &x = c.input(0), &w = c.input(1);
  const result<integer_problem> p = place(*this, x, w);
  if (!p) return p.error();
  if (status s = check_single(c.input(2), "x_zero_point"); !s) return s;
  if (status s = check_filters(c.input(3), p->filters, "w_zero_point"); !s) return s;
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, p->y);
  if (!y) return y.error();
  if (y->empty()) return {};
  const std::int64_t filter_size = std::max<std::int64_t>(1, p->group_channels * p->window.taps());
  const result<std::span<std::int32_t>> from = without_zero(c, x, c.input(2), 1);
  if (!from) return from.error();
  const result<std::span<std::int32_t>> weights = without_zero(c, w, c.input(3), filter_size);
  if (!weights) return weights.error();
  const std::int64_t n = p->window.out_count();
  each_plane(
      c, *p, *from, *weights, [&](std::int64_t unit, std::int64_t) { return y->data() + unit * n; },
      [](std::int64_t, std::int64_t, const std::int32_t*) {});
  return {};
}

status qlinear_conv::run(run_context& c) const {
  value x = c.input(0);
  if (channels_last)
    if (status s = channels_to_front(c, x); !s) return s;
  const value &x_scale = c.input(1), &w = c.input(3), &w_scale = c.input(4), &y_scale = c.input(6);
  const value &y_zero = c.input(7), &bias = c.input(8);
  const result<integer_problem> p = place(*this, x, w);
  if (!p) return p.error();
  if (status s = check_single(x_scale, "x_scale"); !s) return s;
  if (status s = check_single(c.input(2), "x_zero_point"); !s) return s;
  if (status s = check_filters(w_scale, p->filters, "w_scale"); !s) return s;
  if (status s = check_filters(c.input(5), p->filters, "w_zero_point"); !s) return s;
  if (status s = check_single(y_scale, "y_scale"); !s) return s;
  if (status s = check_single(y_zero, "y_zero_point"); !s) return s;
  if (bias && !(bias.shape == extents{p->filters}))
    return bad_input("B ", bias.shape, " must be ", extents{p->filters}, ", one number per filter");
  const result<value*> y = c.output(0, channels_last ? with_channels_last(p->y) : p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const std::int64_t filter_size = std::max<std::int64_t>(1, p->group_channels * p->window.taps());
  const result<std::span<std::int32_t>> from = without_zero(c, x, c.input(2), 1);
  if (!from) return from.error();
  const result<std::span<std::int32_t>> weights = without_zero(c, w, c.input(5), filter_size);
  if (!weights) return weights.error();
  const std::int64_t n = p->window.out_count();
  const result<std::span<std::int32_t>> sums = c.scratch<std::int32_t>(std::size_t(n) * c.lanes());
  if (!sums) return sums.error();
  std::int64_t zero = 0;
  read_wide<std::int64_t>(y_zero.type, y_zero.data, 0, &zero, 1);
  const float from_scale = x_scale.as_unchecked<float>()[0], to_scale = y_scale.as_unchecked<float>()[0];
  const bool per_filter = w_scale.shape.count() > 1;
  const integer_range range = range_of((*y)->type);
  auto* const out = static_cast<std::uint8_t*>((*y)->data);
  const std::int64_t filters = p->filters, step = channels_last ? filters : 1;
  each_plane(
      c, *p, *from, *weights, [&](std::int64_t, std::int64_t lane) { return sums->data() + lane * n; },
      [&](std::int64_t unit, std::int64_t filter, const std::int32_t* sum) {
        const float w_factor = w_scale.as_unchecked<float>()[per_filter ? filter : 0];
        const float scale = scale_of_sums(from_scale, w_factor, to_scale);
        const std::uint32_t addend = bias ? std::uint32_t(bias.as_unchecked<std::int32_t>()[filter]) : 0;
        std::uint8_t* const to = out + (channels_last ? unit / filters * n * filters + filter : unit * n);
        for (std::int64_t i = 0; i < n; ++i) {
          const float v = scale * float(std::int32_t(std::uint32_t(sum[i]) + addend));
          to[i * step] = std::uint8_t(saturated_sum(v, zero, range));
        }
      });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
