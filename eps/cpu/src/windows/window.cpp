#include <cameo/eps/cpu/detail/window.hpp>

#include "operands/choice.hpp"
#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

using dims = std::span<const std::int64_t>;

status check_values(std::string_view name, dims values, std::int64_t least) {
  for (std::int64_t v : values)
    if (v < least) return bad_attribute(name, " has ", v, "; it must be at least ", least);
  return {};
}

status rank_error(std::string_view name, std::size_t found, std::size_t wanted) {
  return bad_input(name, " has ", std::int64_t(found), " values; the input's spatial rank needs ",
                   std::int64_t(wanted));
}

/// Computes the number of elements from the first to the last tap, (kernel - 1) * dilation + 1; false if that
/// overflows.
bool span_of(const window_axis& a, std::int64_t& span) {
  return checked_multiply(a.kernel - 1, a.dilation, span) && checked_add(span, std::int64_t{1}, span);
}

status too_large() { return {status_code::invalid_argument, "the sizes of kernel, strides and pads overflow"}; }

/// Sets the pads of auto_pad SAME_UPPER or SAME_LOWER, which make ceil(in / stride) outputs.
status same(window_axis& a, bool upper) {
  std::int64_t span = 0, needed = 0;
  a.out = a.in / a.stride + (a.in % a.stride != 0);
  if (!span_of(a, span)) return too_large();
  if (a.out == 0) return {};
  if (!checked_multiply(a.out - 1, a.stride, needed) || !checked_add(needed, span, needed)) return too_large();
  needed = std::max<std::int64_t>(0, needed - a.in);
  a.pad_begin = upper ? needed / 2 : needed - needed / 2;
  a.pad_end = needed - a.pad_begin;
  return {};
}

/// Computes the number of outputs along one axis, and its pads if auto_pad gives them. `may_exceed`: the window may
/// exceed the padded input by less than two strides.
status place_axis(window_axis& a, const window& w, std::size_t axis, bool may_exceed) {
  if (w.pad == window::padding::same_upper || w.pad == window::padding::same_lower)
    return same(a, w.pad == window::padding::same_upper);
  std::int64_t span = 0, padded = 0;
  if (!span_of(a, span) || !checked_add(a.in, a.pad_begin, padded) || !checked_add(padded, a.pad_end, padded))
    return too_large();
  const std::int64_t steps = (padded - span) / a.stride, rest = (padded - span) % a.stride;
  if (padded < span && (steps < -1 || !may_exceed))
    return bad_input("spatial axis ", std::int64_t(axis), " has ", a.in, " elements, ", padded,
                     " with pads: less than the window's ", span);
  a.out = steps + 1;
  if (w.ceil && rest > 0) {
    ++a.out;
    std::int64_t start = 0;
    if (!checked_multiply(a.out - 1, a.stride, start) || !checked_add(start, span, padded)) return too_large();
    if (w.clip_ceil && start >= a.in + a.pad_begin) --a.out;
  }
  return {};
}

/// Checks that the number of taps, inputs, padded inputs and outputs of a plane don't overflow.
status check_counts(const placed_window& p) {
  std::int64_t taps = 1, in = 1, out = 1, padded = 1;
  for (std::size_t i = 0; i < p.rank; ++i) {
    const window_axis& a = p.axes[i];
    if (!checked_multiply(taps, a.kernel, taps) || !checked_multiply(in, std::max<std::int64_t>(a.in, 1), in) ||
        !checked_multiply(out, std::max<std::int64_t>(a.out, 1), out) ||
        (a.out > 0 && !checked_multiply(padded, a.padded(), padded)))
      return too_large();
  }
  return {};
}

/// Sets one axis of a transposed convolution: `in` becomes the length of its output, from output_shape (`wanted`, or
/// null), or from the pads and output_padding (`extra`).
status place_transposed_axis(window_axis& a, const window& w, std::int64_t extra, const std::int64_t* wanted) {
  std::int64_t span = 0, full = 0;
  if (a.out == 0) return bad_input("the input has no elements");
  if (!span_of(a, span) || !checked_multiply(a.out - 1, a.stride, full) || !checked_add(full, span, full) ||
      !checked_add(full, extra, full))
    return too_large();
  const bool same_pads = w.pad == window::padding::same_upper || w.pad == window::padding::same_lower;
  if (wanted || same_pads) {
    if (wanted) a.in = *wanted;
    else if (!checked_multiply(a.out, a.stride, a.in)) return too_large();
    else a.in = std::min(a.in, full);  // nothing is added where the windows end earlier
    if (a.in < 0) return bad_attribute("output_shape has ", a.in);
    const std::int64_t total = std::max<std::int64_t>(0, full - a.in);
    a.pad_begin = w.pad == window::padding::same_upper ? total / 2 : total - total / 2;
    a.pad_end = total - a.pad_begin;
    return {};
  }
  std::int64_t pads = 0;
  if (!checked_add(a.pad_begin, a.pad_end, pads)) return too_large();
  a.in = full - pads;
  if (a.in < 0) return bad_input("pads of ", pads, " leave nothing of the ", full, " elements of an output axis");
  return {};
}

/// Checks the attributes against the shapes of the input and the kernel, and returns a window that lacks only the
/// numbers of outputs and the pads of auto_pad, which the caller computes.
result<placed_window> start_of(const window& w, const extents& input, dims kernel) {
  if (input.rank() < 3) return bad_input("input ", input, ", needs batch, channel and at least one spatial axis");
  placed_window p;
  p.rank = input.rank() - 2;
  if (kernel.size() != p.rank) return rank_error("the kernel", kernel.size(), p.rank);
  if (!w.kernel.empty() && !std::ranges::equal(w.kernel, kernel))
    return bad_input("kernel_shape is not that of the weights ", extents{kernel});
  if (!w.strides.empty() && w.strides.size() != p.rank) return rank_error("strides", w.strides.size(), p.rank);
  if (!w.dilations.empty() && w.dilations.size() != p.rank) return rank_error("dilations", w.dilations.size(), p.rank);
  if (!w.pads.empty() && w.pads.size() != 2 * p.rank) return rank_error("half of pads", w.pads.size() / 2, p.rank);
  for (std::size_t i = 0; i < p.rank; ++i) {
    if (kernel[i] < 1) return bad_input("the kernel ", extents{kernel}, " must have sizes of 1 or more");
    const std::int64_t stride = number_or(w.strides, i, 1), dilation = number_or(w.dilations, i, 1);
    p.axes[i] = {
        input[i + 2], 0, kernel[i], stride, dilation, number_or(w.pads, i, 0), number_or(w.pads, i + p.rank, 0)};
  }
  return p;
}

std::int64_t product_of(const placed_window& p, std::int64_t window_axis::* size) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < p.rank; ++i) n *= p.axes[i].*size;
  return n;
}

}  // namespace

std::int64_t placed_window::taps() const { return product_of(*this, &window_axis::kernel); }
std::int64_t placed_window::in_count() const { return product_of(*this, &window_axis::in); }
std::int64_t placed_window::out_count() const { return product_of(*this, &window_axis::out); }
bool placed_window::covers_points() const {
  for (std::size_t i = 0; i < rank; ++i)
    if (axes[i].kernel != 1) return false;
  return true;
}

result<window> window::bind(const bind_context& c) {
  window w;
  w.kernel = c.ints_or("kernel_shape"), w.strides = c.ints_or("strides");
  w.dilations = c.ints_or("dilations"), w.pads = c.ints_or("pads");
  w.ceil = c.int_or("ceil_mode", 0) != 0;
  if (!c.string_or("auto_pad", "").empty())
    if (status s = read_choice(c, "auto_pad", {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}, w.pad); !s) return s;
  if (status s = check_values("kernel_shape", w.kernel, 1); !s) return s;
  if (status s = check_values("strides", w.strides, 1); !s) return s;
  if (status s = check_values("dilations", w.dilations, 1); !s) return s;
  if (w.pad != padding::given) w.pads = {};
  if (status s = check_values("pads", w.pads, 0); !s) return s;
  std::size_t rank = 0;
  for (dims list : {w.kernel, w.strides, w.dilations, w.pads.first(w.pads.size() / 2)}) {
    if (list.size() > max_spatial) return bad_attribute("a window of more than 10 axes");
    if (!list.empty() && rank && list.size() != rank)
      return status{status_code::invalid_graph,
                    "kernel_shape, strides, dilations and half of pads differ in their number of values"};
    if (!list.empty()) rank = list.size();
  }
  if (w.pads.size() % 2) return status{status_code::invalid_graph, "pads has an odd number of values"};
  return w;
}

result<placed_window> window::place(const extents& input, dims kernel_dims, bool may_exceed) const {
  result<placed_window> p = start_of(*this, input, kernel_dims);
  if (!p) return p;
  for (std::size_t i = 0; i < p->rank; ++i)
    if (status s = place_axis(p->axes[i], *this, i, may_exceed); !s) return s;
  if (status s = check_counts(*p); !s) return s;
  return p;
}

result<placed_window> window::place_transposed(const extents& input, dims kernel_dims, dims output_padding,
                                               dims output_shape) const {
  result<placed_window> p = start_of(*this, input, kernel_dims);
  if (!p) return p;
  if (!output_padding.empty() && output_padding.size() != p->rank)
    return rank_error("output_padding", output_padding.size(), p->rank);
  // ONNX Runtime accepts an output_shape that begins with batch and channel.
  if (output_shape.size() == p->rank + 2) output_shape = output_shape.subspan(2);
  if (!output_shape.empty() && output_shape.size() != p->rank)
    return rank_error("output_shape", output_shape.size(), p->rank);
  for (std::size_t i = 0; i < p->rank; ++i) {
    std::swap(p->axes[i].in, p->axes[i].out);
    const std::int64_t extra = output_padding.empty() ? 0 : output_padding[i];
    if (extra < 0) return bad_attribute("output_padding has ", extra);
    if (status s = place_transposed_axis(p->axes[i], *this, extra, output_shape.empty() ? nullptr : &output_shape[i]);
        !s)
      return s;
  }
  if (status s = check_counts(*p); !s) return s;
  return p;
}

}  // namespace CAMEO_NAMESPACE::eps
