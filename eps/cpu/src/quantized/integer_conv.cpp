#include <cameo/eps/cpu/integer_conv.hpp>
#include <cameo/geometry/conv.hpp>

#include "integer_filters.hpp"
#include "machine/lane_scratch.hpp"
#include "machine/parallel_rows.hpp"
#include "machine/work_split.hpp"

#include <optional>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The shapes of a convolution.
struct integer_problem {
  integer_filter_shape w;
  placed_window window;
  std::int64_t images = 0;
  extents y;  // [N, M, out...]
  std::int64_t all_channels() const { return w.groups * w.channels; }
};
result<integer_problem> place(const integer_conv_state& state, const extents& x, const extents& w) {
  const result<geometry::conv> checked = geometry::conv_of<std::int64_t>(state.shape, state.groups, x, w, {});
  if (!checked) return checked.error();
  const result<integer_filter_shape> f = filters_of(w, state);
  if (!f) return f.error();
  integer_problem p{*f, checked->window, x[0], {x[0], w[0]}};
  for (std::size_t i = 0; i < p.window.rank; ++i) p.y.push_back(p.window.axes[i].out);
  return p;
}

/// Computes one convolution, image by image. The micro-kernels read x with channels last, in the type that the
/// arithmetic multiplies, and with its padding written out unless they pad. So x is read in place if it has that
/// layout; else each image is copied.
class convolution {
 public:
  convolution(run_context& c, const integer_problem& p, const integer_filters& weights, const value& x,
              std::int32_t x_zero, bool channels_last)
      : c_{c},
        p_{p},
        arithmetic_{weights.arithmetic},
        depthwise_{weights.depthwise},
        weights_{weights.data},
        x_{x},
        channels_last_{channels_last},
        is_signed_{x.type == dtype::i8},
        x_zero_{x_zero},
        number_{arithmetic_ && arithmetic_->per_cell == 2 ? 2 : 1},
        copies_{must_copy()} {}

  /// `start` [map_places::count] comes from fill_start().
  status prepare(const std::int32_t* start) {
    start_ = start;
    if (status s = prepare_source(); !s || !arithmetic_) return s;
    const integer_panels form = p_.w.panels(*arithmetic_);
    width_ = form.width();
    if (!form.size(group_size_)) return status_code::out_of_memory;
    const result<std::span<std::int64_t>> taps = c_.scratch<std::int64_t>(std::size_t(form.runs));
    if (!taps) return taps.error();
    taps_ = *taps;
    prepare_taps();
    return lists_.prepare(c_, form);
  }
  /// Calls f(image, block of sums), on several workers. The rows of a block are outputs of the image, and its columns
  /// are maps (output channels).
  status to_sums(detail::function_ref<void(std::int64_t, const integer_block&)> f) {
    const tiling by{*this};
    results to{nullptr,
               nullptr,
               &f,
               {},
               arithmetic_ ? by.per_call * by.lines_per_call * arithmetic_->columns : last_axis().out * p_.w.groups};
    const auto room = lane_scratch<std::int32_t>::make(c_, std::size_t(to.part));
    if (!room) return room.error();
    to.room = *room;
    return run(to);
  }
  /// Writes quantized values, as [N, out..., M].
  status to_codes(const code_form& form, std::uint8_t* y) { return run({&form, y}); }

 private:
  /// The destination of results: quantized values, or sums that are passed to f.
  struct results {
    const code_form* form = nullptr;  // how sums are quantized; null: sums
    std::uint8_t* codes = nullptr;
    detail::function_ref<void(std::int64_t, const integer_block&)>* f = nullptr;
    lane_scratch<std::int32_t> room = {};  // a buffer of `part` sums for each worker
    std::int64_t part = 0;
  };
  /// The outputs of an image that one call of a micro-kernel computes, and the split of these calls into tasks: calls
  /// by panels, group by group. A line is the outputs along the last axis.
  struct tiling {
    std::int64_t line = 1, lines = 1;              // outputs of a line; lines of an image
    std::int64_t per_call = 1, calls_of_line = 1;  // outputs of a call, and calls of a line, if a line is split
    std::int64_t lines_per_call = 1;               // lines of a call, if it has whole lines
    std::int64_t panels = 1;                       // panels of a group
    std::int64_t unit = 1;                         // panels that are always in the same task
    std::optional<work_split> split;

    explicit tiling(const convolution& c) {
      const placed_window& w = c.p_.window;
      line = c.last_axis().out, lines = c.outputs() / std::max<std::int64_t>(1, line);
      bool is_flat = w.covers_points();  // then all outputs are one line
      for (std::size_t i = 0; i < w.rank; ++i) is_flat = is_flat && w.axes[i].stride == 1;
      if (is_flat) line = c.outputs(), lines = 1;
      if (!c.arithmetic_) return;
      const integer_arithmetic& by = *c.arithmetic_;
      constexpr std::int64_t cached = 1 << 17;
      const integer_panels form = c.p_.w.panels(by);
      const std::int64_t depth = std::max<std::int64_t>(1, form.runs * form.numbers);
      const std::int64_t pixel = std::max<std::int64_t>(1, c.steps_[w.rank - 1] * c.last_axis().stride);
      const std::int64_t rows = std::min(by.at_once / (depth * by.columns), cached / pixel);
      const auto in_tiles = [&](std::int64_t n) { return std::max<std::int64_t>(1, n / by.tile_rows) * by.tile_rows; };
      const auto set_per_call = [&](std::int64_t outputs) {
        per_call = outputs, calls_of_line = (line + outputs - 1) / outputs;
      };
      set_per_call(std::min(line, in_tiles(rows)));
      if (by.takes_stretches && w.rank == 2 && line > 0)
        lines_per_call = std::clamp<std::int64_t>(rows / line, 1, lines);
      panels = by.panels_of(form.n);
      // Panels whose outputs share a cache line are in the same task, as two threads that write to a line slow each
      // other down.
      unit = std::max<std::int64_t>(1, 64 / by.columns);
      const std::int64_t units = (panels + unit - 1) / unit;
      const bool more_weights = panels * by.columns * depth > c.outputs() * pixel;
      const auto split_by = [&](bool panels_too) {
        work_size size{.repeats = c.p_.w.groups};
        size.outer = {calls(), std::max<std::int64_t>(1, cached / (per_call * lines_per_call * pixel))};
        size.inner = {units, units, panels_too ? 1 : units, panels_too ? 1 : units};
        size.cost = double(c.outputs()) * double(depth) * double(c.p_.w.all_maps());
        size.least_cost = double(by.at_once) / 4, size.splits_inner_first = more_weights;
        split.emplace(size, c.c_.lanes());
      };
      split_by(more_weights);
      while (split->is_short()) {
        if (lines_per_call > 1) lines_per_call = (lines_per_call + 1) / 2;
        else if (per_call > 2 * by.tile_rows) set_per_call(in_tiles(per_call / 2));
        else break;
        split_by(more_weights);
      }
      if (split->is_short()) split_by(true);
    }
    /// The number of calls for an image and a panel.
    std::int64_t calls() const { return (lines + lines_per_call - 1) / lines_per_call * calls_of_line; }
  };

  std::int64_t channels() const { return p_.w.groups * p_.w.channels; }
  const window_axis& last_axis() const { return p_.window.axes[p_.window.rank - 1]; }
  std::int64_t outputs() const { return p_.window.out_count(); }
  bool must_copy() const {
    if (!channels_last_ || number_ != 1 || is_signed_) return true;
    if (is_padded() && (arithmetic_ || !depthwise_->pads)) return true;
    return arithmetic_ &&
           p_.w.panels(*arithmetic_).numbers % arithmetic_->per_cell != 0;  // else the last group of a run exceeds x
  }
  bool is_padded() const {
    for (std::size_t i = 0; i < p_.window.rank; ++i) {
      const window_axis& a = p_.window.axes[i];
      if (a.pad_begin > 0 || a.padded() > a.in) return true;
    }
    return false;
  }
  status prepare_source() {
    std::int64_t step = channels() * number_;
    for (std::size_t i = p_.window.rank; i-- > 0;) {
      sizes_[i] = copies_ ? p_.window.axes[i].padded() : p_.window.axes[i].in;
      steps_[i] = step;
      if (!checked_multiply(step, sizes_[i], step)) return status_code::out_of_memory;
    }
    if (!copies_) return {};
    constexpr std::int64_t behind = 4;  // the last dot-product group may exceed the last pixel
    if (!checked_add(step, behind, step)) return status_code::out_of_memory;
    const result<std::span<std::byte>> made = c_.scratch<std::byte>(std::size_t(step));
    if (!made) return made.error();
    copy_ = *made;
    std::fill(copy_.end() - behind, copy_.end(), std::byte{0});
    return {};
  }
  void prepare_taps() {
    const std::size_t rank = p_.window.rank, axes = p_.w.row_is_run ? rank - 1 : rank;
    for (std::size_t t = 0; t < taps_.size(); ++t) {
      std::int64_t rest = std::int64_t(t), at = 0;
      for (std::size_t i = axes; i-- > 0; rest /= p_.window.axes[i].kernel)
        at += rest % p_.window.axes[i].kernel * p_.window.axes[i].dilation * steps_[i];
      taps_[t] = at;
    }
  }
  const std::byte* image_at(std::int64_t image) {
    if (!copies_) return static_cast<const std::byte*>(x_.data) + image * p_.window.in_count() * channels();
    constexpr std::int64_t at_once = 1 << 16;
    bool is_whole = channels_last_ && !is_padded();
    for (std::size_t i = 0; i < p_.window.rank; ++i) is_whole = is_whole && sizes_[i] == p_.window.axes[i].in;
    if (is_whole) {  // all pixels are one line
      const std::int64_t pixels = p_.window.in_count(), pixel = channels();
      const auto* const from = static_cast<const std::uint8_t*>(x_.data) + image * pixels * pixel;
      parallel_for(c_, pixels, grain_of(at_once, pixel), [&](std::int64_t begin, std::int64_t end) {
        put_pixels(from + begin * pixel, pixel, 1, end - begin, copy_.data() + begin * pixel * number_);
      });
      return copy_.data();
    }
    std::int64_t lines = 1;
    for (std::size_t i = 0; i + 1 < p_.window.rank; ++i) lines *= sizes_[i];
    const std::int64_t bytes = sizes_[p_.window.rank - 1] * steps_[p_.window.rank - 1];
    parallel_each(c_, lines, grain_of(at_once, bytes),
                  [&](std::int64_t line, std::size_t) { copy_line(image, line, copy_.data() + line * bytes); });
    return copy_.data();
  }
  /// Writes a line of the copy, with the padding before and after it. A line outside of the image is all padding.
  void copy_line(std::int64_t image, std::int64_t line, std::byte* to) const {
    const std::size_t last = p_.window.rank - 1;
    std::int64_t rest = line, at = 0, step = 1;
    bool inside = true;
    for (std::size_t i = last; i-- > 0; rest /= sizes_[i]) {
      const window_axis& a = p_.window.axes[i];
      const std::int64_t in = rest % sizes_[i] - a.pad_begin;
      inside = inside && in >= 0 && in < a.in;
      at += in * step, step *= a.in;
    }
    const window_axis& a = last_axis();
    const std::int64_t pixel = channels() * number_;
    const std::int64_t begin = inside ? std::min(a.pad_begin, sizes_[last]) : sizes_[last];
    const std::int64_t count = std::max<std::int64_t>(0, std::min(a.in, sizes_[last] - begin));
    const auto padding = std::byte(number_ == 1 ? std::uint8_t(zero_as_bytes(is_signed_, x_zero_)) : 0);
    std::fill_n(to, begin * pixel, padding);
    std::fill_n(to + (begin + count) * pixel, (sizes_[last] - begin - count) * pixel, padding);
    if (count == 0) return;
    const std::int64_t plane = p_.window.in_count();
    const auto* const from = static_cast<const std::uint8_t*>(x_.data) + image * plane * channels();
    if (channels_last_) put_pixels(from + at * a.in * channels(), channels(), 1, count, to + begin * pixel);
    else put_pixels(from + at * a.in, 1, plane, count, to + begin * pixel);
  }
  /// Copies `count` pixels of x, converted to what the arithmetic multiplies, to contiguous memory with channels last.
  void put_pixels(const std::uint8_t* from, std::int64_t pixel_step, std::int64_t channel_step, std::int64_t count,
                  std::byte* to) const {
    const std::int64_t c = channels();
    if (channel_step == 1 && pixel_step == c) {
      auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
      if (number_ == 2) widen_codes(from, is_signed_, x_zero_, count * c, reinterpret_cast<std::int16_t*>(to));
      else if (is_signed_) shift_codes(from, count * c, bytes);
      else std::copy_n(from, count * c, bytes);
      return;
    }
    const std::uint8_t flip = is_signed_ ? 0x80 : 0;
    for (std::int64_t channel = 0; channel < c; ++channel) {
      const std::uint8_t* const plane = from + channel * channel_step;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint8_t code = plane[i * pixel_step];
        if (number_ == 1) reinterpret_cast<std::uint8_t*>(to)[i * c + channel] = code ^ flip;
        else
          reinterpret_cast<std::int16_t*>(to)[i * c + channel] =
              std::int16_t((is_signed_ ? std::int32_t(std::int8_t(code)) : std::int32_t{code}) - x_zero_);
      }
    }
  }
  status run(const results& to) {
    const tiling by{*this};
    for (std::int64_t image = 0; image < p_.images; ++image) {
      const std::byte* const x = image_at(image);
      if (!arithmetic_) {
        constexpr std::int64_t at_once = 1 << 18;
        const std::int64_t work = std::max<std::int64_t>(1, last_axis().out * p_.w.taps * p_.w.groups);
        const std::int64_t lines = outputs() / last_axis().out,
                           some = std::clamp<std::int64_t>(at_once / work, 1, lines);
        parallel_each(c_, (lines + some - 1) / some, 1, [&](std::int64_t part, std::size_t lane) {
          run_depthwise_lines(to, image, x, part * some, std::min(some, lines - part * some), lane);
        });
      } else {
        for_each_task(c_, *by.split,
                      [&](const work_task& task, std::size_t lane) { run_task(to, by, image, x, task, lane); });
      }
      if (c_.stopped()) return status_code::canceled;
    }
    return {};
  }
  void run_task(const results& to, const tiling& by, std::int64_t image, const std::byte* x, const work_task& task,
                std::size_t lane) const {
    const std::int64_t group = task.repeat;
    integer_panels form = p_.w.panels(*arithmetic_);
    form.data = weights_ + std::size_t(group) * group_size_;
    integer_line line{};
    line.row_step = last_axis().stride * steps_[p_.window.rank - 1];
    line.stretch_step = by.lines_per_call > 1 ? line_start(1) : 0;
    line.taps = taps_.data(), line.tap_count = form.runs, line.cells = form.cells();
    const std::int64_t panel_step = form.panel_step(), begin = task.outer, end = begin + task.outer_count;
    const std::byte* const panels = form.panel(0);
    detail::stop_pace pace;
    const std::int64_t last = std::min(by.panels, (task.inner + task.inner_count) * by.unit);
    for (std::int64_t panel = task.inner * by.unit; panel < last; ++panel)
      for (std::int64_t i = begin; i < end; ++i) {
        if (c_.stopped(pace)) return;
        const std::int64_t l = i / by.calls_of_line * by.lines_per_call, first = i % by.calls_of_line * by.per_call;
        const std::int64_t column = panel * arithmetic_->columns;
        const std::int64_t output = l * by.line + first, map = group * p_.w.maps + column;
        line.x = x + (by.lines > 1 ? line_start(l) : 0) + first * line.row_step + group * p_.w.channels * number_;
        line.w = panels + panel * panel_step;
        line.ahead = panel + 1 < by.panels && i == begin ? panel_step : 0;
        lists_.put(line, lane);
        line.stretch = std::min(by.per_call, by.line - first);
        line.rows = line.stretch * std::min(by.lines_per_call, by.lines - l);
        line.columns = std::min(arithmetic_->columns, form.n - column);
        line.start = start_ + group * width_ + column;
        if (to.form) {
          line.scale = to.form->scale + group * width_ + column;
          line.low = to.form->low, line.high = to.form->high, line.zero = to.form->zero;
          line.codes = to.codes + (image * outputs() + output) * p_.w.all_maps() + map, line.step = p_.w.all_maps();
          arithmetic_->line(line);
        } else {
          line.sums = to.room.at(lane), line.step = arithmetic_->columns;
          arithmetic_->line(line);
          (*to.f)(image, integer_block{output, map, line.rows, line.columns, line.sums, line.step});
        }
      }
  }
  void run_depthwise_lines(const results& to, std::int64_t image, const std::byte* x, std::int64_t first,
                           std::int64_t lines, std::size_t lane) const {
    const std::size_t rank = p_.window.rank;
    const window_axis& a = last_axis();
    depthwise_lines d{};
    d.lines = lines, d.padding = std::uint8_t(zero_as_bytes(is_signed_, x_zero_));
    d.pixel = steps_[rank - 1], d.columns = a.kernel, d.stride = a.stride, d.dilation = a.dilation;
    d.column = copies_ ? 0 : -a.pad_begin, d.image_columns = sizes_[rank - 1];
    d.rows = 1, d.image_rows = 1;
    std::int64_t window = d.column * d.pixel;
    if (rank > 1) {
      const window_axis& rows = p_.window.axes[rank - 2];
      d.row_stride = rows.stride, d.row_dilation = rows.dilation, d.image_rows = sizes_[rank - 2];
      d.row = first * rows.stride - (copies_ ? 0 : rows.pad_begin);
      d.x_step = rows.stride * steps_[rank - 2];
      d.rows = rows.kernel, d.row_step = rows.dilation * steps_[rank - 2];
      window += d.row * steps_[rank - 2];
    }
    d.x = reinterpret_cast<const std::uint8_t*>(x) + window;
    d.w = weights_ + sum_bytes(p_.w);
    d.start = start_, d.channels = p_.w.groups, d.outputs = a.out;
    if (to.form) {
      d.scale = to.form->scale, d.low = to.form->low, d.high = to.form->high, d.zero = to.form->zero;
      d.codes = to.codes + (image * outputs() + first * a.out) * p_.w.groups;
      return depthwise_->run(d);
    }
    d.sums = to.room.at(lane), d.lines = 1;
    for (std::int64_t line = first; line < first + lines; ++line, d.x += d.x_step, d.row += d.row_stride) {
      depthwise_->run(d);
      (*to.f)(image, integer_block{line * a.out, 0, a.out, p_.w.groups, d.sums, p_.w.groups});
    }
  }
  /// The offset in an image of the first window of a line of outputs, in bytes.
  std::int64_t line_start(std::int64_t line) const {
    std::int64_t at = 0;
    for (std::size_t i = p_.window.rank - 1; i-- > 0; line /= p_.window.axes[i].out)
      at += line % p_.window.axes[i].out * p_.window.axes[i].stride * steps_[i];
    return at;
  }

  run_context& c_;
  const integer_problem& p_;
  const integer_arithmetic* arithmetic_;  // null: depthwise
  const depthwise_loops* depthwise_;      // null: panels
  const std::byte* weights_;
  const value& x_;
  bool channels_last_, is_signed_;
  std::int32_t x_zero_;
  std::int64_t number_;  // bytes of an element that the arithmetic multiplies
  bool copies_;
  std::int64_t width_ = 1;      // maps of a group, with those that fill up the last panel
  std::size_t group_size_ = 0;  // bytes of a group's panels
  std::int64_t sizes_[max_spatial] = {}, steps_[max_spatial] = {};  // the sizes and byte strides of an image
  std::span<std::int64_t> taps_;
  panel_lists lists_;
  const std::int32_t* start_ = nullptr;
  std::span<std::byte> copy_;
};

/// Converts a shape with channels last to one with channels second.
extents channels_second(extents x) {
  const std::int64_t channels = x.back();
  x.erase(x.rank() - 1);
  x.insert(1, channels);
  return x;
}
extents with_channels_last(extents y) {
  const std::int64_t channels = y[1];
  y.erase(1);
  y.push_back(channels);
  return y;
}

std::int32_t zero_of(const value& v) { return v ? code_of(v, 0) : 0; }

}  // namespace

result<conv_integer> conv_integer::bind(bind_context& c) {
  return integer_conv_state::read(c, 1, 3).transform([](const auto& state) { return conv_integer{state}; });
}

status conv_integer::run(run_context& c) const {
  const value &x = c.input(0), &w = c.input(1);
  const result<integer_problem> p = place(*this, x.shape, w.shape);
  if (!p) return p.error();
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, p->y);
  if (!y) return y.error();
  if (y->empty()) return {};
  const result<integer_filters> weights = weights_of(c, *this, p->w, w, c.input(3));
  if (!weights) return weights.error();
  const result<std::span<std::int32_t>> start = c.scratch<std::int32_t>(std::size_t(map_places{p->w, *weights}.count));
  if (!start) return start.error();
  fill_start(p->w, *weights, nullptr, x.type == dtype::i8, zero_of(c.input(2)), start->data());
  convolution all{c, *p, *weights, x, zero_of(c.input(2)), false};
  if (status s = all.prepare(start->data()); !s) return s;
  const std::int64_t outputs = p->window.out_count(), maps = p->w.all_maps();
  return all.to_sums([&](std::int64_t image, const integer_block& block) {
    for (std::int64_t j = 0; j < block.columns; ++j) {
      std::int32_t* const to = y->data() + (image * maps + block.column + j) * outputs + block.row;
      for (std::int64_t i = 0; i < block.rows; ++i) to[i] = block.sums[i * block.step + j];
    }
  });
}

namespace {

/// Quantizes sums outside of the micro-kernel: for outputs with channels second, or if a scale is not finite.
struct code_store {
  map_places places;
  code_form form;
  bool is_finite, channels_last;
  dtype type;
  std::int64_t outputs, maps;
  std::uint8_t* y;

  void operator()(std::int64_t image, const integer_block& block) const {
    constexpr std::int64_t most = 64;
    std::uint8_t codes[most];
    for (std::int64_t i = 0; i < block.rows; ++i)
      for (std::int64_t j0 = 0; j0 < block.columns; j0 += most) {
        const std::int64_t n = std::min(most, block.columns - j0), map = block.column + j0;
        const std::int32_t* const sums = block.sums + i * block.step + j0;
        code_form here = form;
        here.scale += places[map];
        if (is_finite) sums_to_codes(sums, here, n, codes);
        for (std::int64_t j = 0; !is_finite && j < n; ++j)
          codes[j] = std::uint8_t(saturated_sum(here.scale[j] * float(sums[j]), form.zero, range_of(type)));
        std::uint8_t* const to = channels_last ? y + (image * outputs + block.row + i) * maps + map
                                               : y + (image * maps + map) * outputs + block.row + i;
        for (std::int64_t j = 0; j < n; ++j) to[j * (channels_last ? 1 : outputs)] = codes[j];
      }
  }
};

/// The inputs of QLinearConv other than x and w, of a run or, if constant, while binding. Absent inputs are empty
/// values.
struct qlinear_numbers {
  const value &x_scale, &x_zero, &w_scale, &w_zero, &y_scale, &y_zero, &bias;

  /// Whether the shapes are those that the operator states. The node is bound before they are checked.
  bool fit(std::int64_t maps) const {
    for (const value* one : {&x_scale, &x_zero, &y_scale, &y_zero})
      if (*one && one->shape.count() != 1) return false;
    return fits_filters(w_scale, maps) && fits_filters(w_zero, maps) && (!bias || bias.shape == extents{maps});
  }
  void fill(const integer_filter_shape& f, const integer_filters& weights, bool x_is_signed, std::int32_t* start,
            float* scales) const {
    const map_places places{f, weights};
    fill_start(f, weights, bias ? bias.as_unchecked<std::int32_t>().data() : nullptr, x_is_signed, zero_of(x_zero),
               start);
    std::fill_n(scales, places.count, 0.0f);
    const float from = x_scale.as_unchecked<float>()[0], to = y_scale.as_unchecked<float>()[0];
    const tensor_view<const float> each = w_scale.as_unchecked<float>();
    for (std::int64_t i = 0; i < f.all_maps(); ++i)
      scales[places[i]] = scale_of_sums(from, each[each.count() > 1 ? i : 0], to);
  }
};

}  // namespace

result<qlinear_conv> qlinear_conv::bind(bind_context& c) {
  const result<integer_conv_state> state = integer_conv_state::read(c, 3, 5);
  if (!state) return state.error();
  qlinear_conv made{*state};
  if (!made.packed.data) return made;
  const value none{};
  const auto number = [&](std::size_t i) -> const value* { return c.has_input(i) ? c.constant(i) : &none; };
  const value* all[] = {number(1), number(2), number(4), number(5), number(6), number(7), number(8)};
  if (std::find(std::begin(all), std::end(all), nullptr) != std::end(all)) return made;
  const qlinear_numbers numbers{*all[0], *all[1], *all[2], *all[3], *all[4], *all[5], *all[6]};
  const result<integer_filter_shape> f = filters_of(c.inputs[3].constant->shape, made);
  if (!f || !numbers.x_scale || !numbers.w_scale || !numbers.y_scale || !numbers.fit(f->all_maps()))
    return made;  // the run reports the error
  const auto count = std::size_t(map_places{*f, made.packed}.count);
  const result<std::span<std::int32_t>> start = c.keep<std::int32_t>(count);
  const result<std::span<float>> scales = c.keep<float>(count);
  if (!start || !scales) return status_code::out_of_memory;
  numbers.fill(*f, made.packed, c.inputs[0].type == dtype::i8, start->data(), scales->data());
  made.start = start->data(), made.scales = scales->data();
  return made;
}

status qlinear_conv::run(run_context& c) const {
  const value &x = c.input(0), &w = c.input(3);
  const result<integer_problem> p = place(*this, channels_last ? channels_second(x.shape) : x.shape, w.shape);
  if (!p) return p.error();
  const qlinear_numbers numbers{c.input(1), c.input(2), c.input(4), c.input(5), c.input(6), c.input(7), c.input(8)};
  const result<value*> y = c.output(0, channels_last ? with_channels_last(p->y) : p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<integer_filters> weights = weights_of(c, *this, p->w, w, numbers.w_zero);
  if (!weights) return weights.error();
  const map_places places{p->w, *weights};
  const std::int32_t* begins = start;
  const float* factors = scales;
  if (!begins) {
    const result<std::span<std::int32_t>> made_start = c.scratch<std::int32_t>(std::size_t(places.count));
    const result<std::span<float>> made_scales = c.scratch<float>(std::size_t(places.count));
    if (!made_start || !made_scales) return status_code::out_of_memory;
    numbers.fill(p->w, *weights, x.type == dtype::i8, made_start->data(), made_scales->data());
    begins = made_start->data(), factors = made_scales->data();
  }
  convolution all{c, *p, *weights, x, zero_of(numbers.x_zero), channels_last};
  if (status s = all.prepare(begins); !s) return s;
  const code_form form = form_of((*y)->type, zero_of(numbers.y_zero), factors);
  auto* const codes = static_cast<std::uint8_t*>((*y)->data);
  const bool is_finite = all_finite({factors, std::size_t(places.count)});
  if (is_finite && channels_last) return all.to_codes(form, codes);
  return all.to_sums(
      code_store{places, form, is_finite, channels_last, (*y)->type, p->window.out_count(), p->w.all_maps(), codes});
}

}  // namespace CAMEO_NAMESPACE::eps
