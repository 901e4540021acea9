#pragma once
#include <cameo/core/result.hpp>
#include <cameo/geometry/shape.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// Axes after batch and channel.
inline constexpr std::size_t max_spatial = max_rank - 2;

/// How pads are determined: by the attribute pads, none, or so that there are ceil(input / stride) positions, with the
/// odd pad at the end (SAME_UPPER) or at the beginning (SAME_LOWER).
enum class padding : std::uint8_t { given, same_upper, same_lower, valid };

/// A window along one axis: `out` positions, `stride` apart, of `kernel` elements, `dilation` apart. Strides, dilations
/// and kernels are at least 1, pads at least 0.
template <size_kind D>
struct basic_window_axis {
  D in{}, out{}, kernel{};
  std::int64_t stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;

  /// The first element of the window at position o that lies inside the input.
  constexpr std::int64_t first(std::int64_t o) const {
    const std::int64_t start = o * stride - pad_begin;
    return start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
  }
  /// The end of those elements.
  constexpr std::int64_t last(std::int64_t o) const {
    const std::int64_t start = o * stride - pad_begin;
    return start >= in ? 0 : std::min(kernel, (in - start + dilation - 1) / dilation);
  }
  /// Positions [begin, end).
  struct range {
    std::int64_t begin, end;
  };
  /// The positions whose windows have element k inside the input.
  constexpr range outputs_of(std::int64_t k) const {
    const std::int64_t shift = pad_begin - k * dilation;  // position o reads input o * stride - shift
    const std::int64_t begin = shift > 0 ? (shift + stride - 1) / stride : 0;
    const std::int64_t past = in - 1 + shift;
    return {begin, past < 0 ? begin : std::max(begin, std::min(out, past / stride + 1))};
  }
  /// The number of elements of the window at position o that lie inside the input; `with_pads`: inside the input and
  /// its pads.
  constexpr std::int64_t elements(std::int64_t o, bool with_pads) const {
    if (!with_pads) return std::max<std::int64_t>(0, last(o) - first(o));
    const std::int64_t rest = in + pad_end - (o * stride - pad_begin);
    return rest <= 0 ? 0 : std::min(kernel, (rest + dilation - 1) / dilation);
  }
  /// The number of elements of the padded input that windows cover.
  constexpr std::int64_t padded() const { return (out - 1) * stride + (kernel - 1) * dilation + 1; }
};
/// An axis of known sizes.
using window_axis = basic_window_axis<std::int64_t>;

/// A window on all spatial axes of an input. Where all sizes are known, the products of kernels, of inputs, of outputs
/// and of padded inputs fit in 64 bits.
template <size_kind D>
struct basic_placed_window {
  std::size_t rank = 0;
  basic_window_axis<D> axes[max_spatial] = {};

  /// The number of elements of a window, of an input plane, of an output plane.
  constexpr std::int64_t taps() const { return product_of(&basic_window_axis<D>::kernel); }
  constexpr std::int64_t in_count() const { return product_of(&basic_window_axis<D>::in); }
  constexpr std::int64_t out_count() const { return product_of(&basic_window_axis<D>::out); }
  /// Returns whether every kernel is 1.
  constexpr bool covers_points() const {
    for (std::size_t i = 0; i < rank; ++i)
      if (axes[i].kernel != 1) return false;
    return true;
  }

 private:
  constexpr std::int64_t product_of(D basic_window_axis<D>::* size) const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) n *= axes[i].*size;
    return n;
  }
};
/// A window whose sizes are known.
using placed_window = basic_placed_window<std::int64_t>;

/// The attributes of a window, as the node has them; lists may be empty. The spans are the node's. Operators state that
/// kernels and strides are 1 or more.
struct window {
  padding pad = padding::given;
  bool ceil = false;
  std::span<const std::int64_t> kernel = {}, strides = {}, dilations = {}, pads = {};

  /// Puts a window on the spatial axes of an input [N, C, ...] of at least rank 3. `kernel_sizes` are those of the
  /// weights; without weights the attribute kernel_shape has them. The error is one of wrong() when ranks do not agree,
  /// the window is larger than the padded input, or sizes overflow. Pools (`may_exceed`) may be larger by less than two
  /// strides, as those of ONNX Runtime: there is one position if it is less than one stride, with the existing elements
  /// only, and none otherwise.
  template <size_kind D>
  constexpr result<basic_placed_window<D>> place(shape_view<D> input, shape_view<D> kernel_sizes,
                                                 bool may_exceed = false) const;
  /// The window of ConvTranspose, as its output has it: `axes` describe the convolution whose gradient it is, so `in`
  /// is the size of the output and `out` the size of the input.
  template <size_kind D>
  constexpr result<basic_placed_window<D>> place_transposed(shape_view<D> input, shape_view<D> kernel_sizes,
                                                            std::span<const std::int64_t> output_padding,
                                                            std::span<const std::int64_t> output_shape) const;
};

namespace detail {
constexpr std::int64_t number_or(std::span<const std::int64_t> list, std::size_t i, std::int64_t otherwise) {
  return i < list.size() ? list[i] : otherwise;
}
constexpr status check_values(std::string_view name, std::span<const std::int64_t> values, std::int64_t least) {
  for (const std::int64_t v : values)
    if (v < least) return wrong_attribute("attribute ", name, " has ", v, ", must be ", least, " or more");
  return {};
}
template <size_kind D>
constexpr status check_length(std::string_view name, std::span<const std::int64_t> list, std::size_t wanted) {
  if (list.empty() || list.size() == wanted) return {};
  return wrong<D>("attribute ", name, " has ", list.size(), " elements, must have ", wanted, " for ",
                  name == "pads" ? wanted / 2 : wanted, " spatial axes");
}
template <size_kind D>
constexpr status too_large(std::size_t axis) {
  return wrong<D>("spatial axis ", axis, ": the sizes of kernel, strides and pads overflow");
}

/// The number of elements from the first to the last of a window.
constexpr bool reach_of(std::int64_t kernel, std::int64_t dilation, std::int64_t& reach) {
  return checked_multiply(kernel - 1, dilation, reach) && checked_add(reach, std::int64_t{1}, reach);
}

/// Pads that make ceil(in / stride) positions.
template <size_kind D>
constexpr status place_same(basic_window_axis<D>& a, bool upper, std::size_t axis) {
  if (!is_known(a.in)) {
    if (a.stride == 1) a.out = a.in;
    return {};
  }
  const std::int64_t in = number_of(a.in), out = in / a.stride + (in % a.stride != 0);
  a.out = fixed<D>(out);
  std::int64_t reach = 0, needed = 0;
  if (!is_known(a.kernel) || out == 0) return {};
  if (!reach_of(number_of(a.kernel), a.dilation, reach) || !checked_multiply(out - 1, a.stride, needed) ||
      !checked_add(needed, reach, needed))
    return too_large<D>(axis);
  needed = std::max<std::int64_t>(0, needed - in);
  a.pad_begin = upper ? needed / 2 : needed - needed / 2;
  a.pad_end = needed - a.pad_begin;
  return {};
}

template <size_kind D>
constexpr status place_axis(basic_window_axis<D>& a, const window& w, std::size_t axis, bool may_exceed) {
  if (w.pad == padding::same_upper || w.pad == padding::same_lower)
    return place_same(a, w.pad == padding::same_upper, axis);
  if (!is_known(a.kernel)) return {};
  std::int64_t reach = 0, pads = 0, padded = 0;
  if (!reach_of(number_of(a.kernel), a.dilation, reach) || !checked_add(a.pad_begin, a.pad_end, pads))
    return too_large<D>(axis);
  if (!is_known(a.in)) {
    if (a.stride == 1 && pads + 1 == reach) a.out = a.in;
    return {};
  }
  const std::int64_t in = number_of(a.in);
  if (!checked_add(in, pads, padded)) return too_large<D>(axis);
  const std::int64_t steps = (padded - reach) / a.stride, rest = (padded - reach) % a.stride;
  if (padded < reach && (steps < -1 || !may_exceed))
    return wrong<D>("the kernel reaches over ", reach, " elements of spatial axis ", axis, ", which has ", padded,
                    " with its pads: the kernel must not be larger than the input");
  std::int64_t out = steps + 1;
  if (w.ceil && rest > 0) {
    std::int64_t start = 0;
    if (!checked_multiply(out, a.stride, start) || !checked_add(start, reach, padded)) return too_large<D>(axis);
    if (start < in + a.pad_begin) ++out;  // no window begins in the padding at the end
  }
  a.out = fixed<D>(out);
  return {};
}

/// One output axis of a transposed convolution: `in` is its size, which pads or output_shape give.
template <size_kind D>
constexpr status place_transposed_axis(basic_window_axis<D>& a, const window& w, std::size_t axis, std::int64_t extra,
                                       const std::int64_t* wanted) {
  if (wanted) a.in = fixed<D>(*wanted);
  const bool is_same = w.pad == padding::same_upper || w.pad == padding::same_lower;
  if (!is_known(a.out) || !is_known(a.kernel)) return {};
  const std::int64_t out = number_of(a.out);
  std::int64_t reach = 0, full = 0, size = 0, pads = 0;
  if (!reach_of(number_of(a.kernel), a.dilation, reach) || !checked_multiply(out - 1, a.stride, full) ||
      !checked_add(full, reach, full) || !checked_add(full, extra, full))
    return too_large<D>(axis);
  if (wanted || is_same) {
    if (wanted) size = *wanted;
    else if (!checked_multiply(out, a.stride, size)) return too_large<D>(axis);
    else size = std::min(size, full);  // nothing is added where the windows end earlier
    const std::int64_t total = std::max<std::int64_t>(0, full - size);
    a.pad_begin = w.pad == padding::same_upper ? total / 2 : total - total / 2;
    a.pad_end = total - a.pad_begin;
  } else {
    if (!checked_add(a.pad_begin, a.pad_end, pads)) return too_large<D>(axis);
    size = full - pads;
    if (size < 0)
      return wrong<D>("pads of ", pads, " leave nothing of the ", full, " elements of spatial axis ", axis,
                      " of the output");
  }
  a.in = fixed<D>(size);
  return {};
}

/// The parts of a placed window that attributes give.
template <size_kind D>
constexpr status begin(basic_placed_window<D>& p, const window& w, shape_view<D> input, shape_view<D> kernel) {
  if (input.rank() < 3)
    return wrong<D>("X has shape ", input.sizes, " of rank ", input.rank(), ", must have rank 3 or more");
  if (input.rank() > max_rank) return wrong<D>("X has rank ", input.rank(), ", must have rank ", max_rank, " or less");
  p.rank = input.rank() - 2;
  if (status s = check_length<D>("kernel_shape", w.kernel, p.rank); !s) return s;
  if (status s = check_length<D>("strides", w.strides, p.rank); !s) return s;
  if (status s = check_length<D>("dilations", w.dilations, p.rank); !s) return s;
  if (status s = check_values("dilations", w.dilations, 1); !s) return s;  // old versions of operators state nothing
  if (w.pad == padding::given) {
    if (w.pads.size() % 2)
      return wrong_attribute("attribute pads has ", w.pads.size(), " elements, must have an even number");
    if (status s = check_length<D>("pads", w.pads, 2 * p.rank); !s) return s;
    if (status s = check_values("pads", w.pads, 0); !s) return s;
  }
  if (kernel && kernel.rank() != p.rank)
    return wrong<D>("the kernel has ", kernel.rank(), " axes, must have ", p.rank, ", as X has spatial axes");
  if (!kernel && w.kernel.empty() && !std::same_as<D, dim>) return wrong<D>("attribute kernel_shape is missing");
  for (std::size_t i = 0; i < p.rank; ++i) {
    D size{};
    if (kernel) size = kernel[i];
    if (!w.kernel.empty()) {
      if (kernel && is_known(size) && number_of(size) != w.kernel[i])
        return wrong<D>("kernel_shape is ", w.kernel, ", must be that of the weights, ", kernel.sizes);
      size = fixed<D>(w.kernel[i]);
    }
    if (is_known(size) && (kernel || !w.kernel.empty()) && number_of(size) < 1)
      return wrong<D>("the kernel has shape ", kernel.sizes, ", sizes must be 1 or more");
    p.axes[i] = {input[i + 2], D{}, size, number_or(w.strides, i, 1), number_or(w.dilations, i, 1)};
    if (w.pad == padding::given)
      p.axes[i].pad_begin = number_or(w.pads, i, 0), p.axes[i].pad_end = number_or(w.pads, i + p.rank, 0);
  }
  return {};
}

/// Planes of known sizes have no more elements than 64 bits count.
constexpr status check_counts(const placed_window& p) {
  std::int64_t taps = 1, in = 1, out = 1, padded = 1;
  for (std::size_t i = 0; i < p.rank; ++i) {
    const window_axis& a = p.axes[i];
    if (!checked_multiply(taps, a.kernel, taps) || !checked_multiply(in, std::max<std::int64_t>(a.in, 1), in) ||
        !checked_multiply(out, std::max<std::int64_t>(a.out, 1), out) ||
        (a.out > 0 && !checked_multiply(padded, a.padded(), padded)))
      return too_large<std::int64_t>(i);
  }
  return {};
}
constexpr status check_counts(const basic_placed_window<dim>&) { return {}; }
}  // namespace detail

template <size_kind D>
constexpr result<basic_placed_window<D>> window::place(shape_view<D> input, shape_view<D> kernel_sizes,
                                                       bool may_exceed) const {
  basic_placed_window<D> p;
  if (status s = detail::begin(p, *this, input, kernel_sizes); !s) return s;
  for (std::size_t i = 0; i < p.rank; ++i)
    if (status s = detail::place_axis(p.axes[i], *this, i, may_exceed); !s) return s;
  if (status s = detail::check_counts(p); !s) return s;
  return p;
}

template <size_kind D>
constexpr result<basic_placed_window<D>> window::place_transposed(shape_view<D> input, shape_view<D> kernel_sizes,
                                                                  std::span<const std::int64_t> output_padding,
                                                                  std::span<const std::int64_t> output_shape) const {
  basic_placed_window<D> p;
  if (status s = detail::begin(p, *this, input, kernel_sizes); !s) return s;
  if (output_shape.size() == p.rank + 2) output_shape = output_shape.subspan(2);  // old models have N and C before it
  if (status s = detail::check_length<D>("output_padding", output_padding, p.rank); !s) return s;
  if (status s = detail::check_length<D>("output_shape", output_shape, p.rank); !s) return s;
  if (status s = detail::check_values("output_shape", output_shape, 0); !s) return s;
  for (std::size_t i = 0; i < p.rank; ++i) {
    std::swap(p.axes[i].in, p.axes[i].out);
    const std::int64_t* const wanted = output_shape.empty() ? nullptr : &output_shape[i];
    if (status s = detail::place_transposed_axis(p.axes[i], *this, i, detail::number_or(output_padding, i, 0), wanted);
        !s)
      return s;
  }
  if (status s = detail::check_counts(p); !s) return s;
  return p;
}

// Compiled in geometry/window.cpp, once for loading and once for running.
extern template result<basic_placed_window<dim>> window::place(shape_view<dim>, shape_view<dim>, bool) const;
extern template result<placed_window> window::place(shape_view<std::int64_t>, shape_view<std::int64_t>, bool) const;
extern template result<basic_placed_window<dim>> window::place_transposed(shape_view<dim>, shape_view<dim>,
                                                                          std::span<const std::int64_t>,
                                                                          std::span<const std::int64_t>) const;
extern template result<placed_window> window::place_transposed(shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                               std::span<const std::int64_t>,
                                                               std::span<const std::int64_t>) const;

}  // namespace CAMEO_NAMESPACE::geometry
