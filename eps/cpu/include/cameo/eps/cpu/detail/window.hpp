#pragma once
#include <cameo/core/extents.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// The number of axes after batch and channel, at most.
inline constexpr std::size_t max_spatial = max_rank - 2;

/// How a window of `kernel` elements slides along one axis to `out` positions. All sizes are at least 1, pads at least
/// 0.
struct window_axis {
  std::int64_t in, out, kernel, stride, dilation, pad_begin, pad_end;
  /// The first, and last + 1, of the window's elements that lie inside the input, for output position o.
  std::int64_t first(std::int64_t o) const {
    const std::int64_t start = o * stride - pad_begin;
    return start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
  }
  std::int64_t last(std::int64_t o) const {
    const std::int64_t start = o * stride - pad_begin;
    return start >= in ? 0 : std::min(kernel, (in - start + dilation - 1) / dilation);
  }
  /// A range [begin, end) of output positions.
  struct range {
    std::int64_t begin, end;
  };
  range outputs_of(std::int64_t k) const {
    const std::int64_t shift = pad_begin - k * dilation;  // output o reads input o * stride - shift
    const std::int64_t begin = shift > 0 ? (shift + stride - 1) / stride : 0;
    const std::int64_t past = in - 1 + shift;
    return {begin, past < 0 ? begin : std::max(begin, std::min(out, past / stride + 1))};
  }
  /// The number of window elements inside the input at output o; `with_pads`: inside the input and its padding.
  std::int64_t elements(std::int64_t o, bool with_pads) const {
    if (!with_pads) return std::max<std::int64_t>(0, last(o) - first(o));
    const std::int64_t space = in + pad_end - (o * stride - pad_begin);
    return space <= 0 ? 0 : std::min(kernel, (space + dilation - 1) / dilation);
  }
  /// The number of elements of the padded input that the windows cover.
  std::int64_t padded() const { return (out - 1) * stride + (kernel - 1) * dilation + 1; }
};

/// A window over all spatial axes of an input whose sizes are known.
struct placed_window {
  std::size_t rank = 0;
  window_axis axes[max_spatial] = {};
  /// The number of elements of a window, of an input plane and of an output plane; checked at placing not to overflow.
  std::int64_t taps() const;
  std::int64_t in_count() const;
  std::int64_t out_count() const;
  bool covers_points() const;  // every kernel is 1
};

/// The attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a node, as far as it has them. The
/// spans point into the plan.
struct window {
  enum class padding : std::uint8_t { given, valid, same_upper, same_lower } pad = padding::given;
  bool ceil = false;
  bool clip_ceil = true;  // no window starts in the padding at the end
  std::span<const std::int64_t> kernel, strides, dilations, pads;

  /// Reads and checks the attributes; INVALID_GRAPH with the name of the attribute that is wrong.
  static result<window> bind(const bind_context&);
  /// Places a window of the size `kernel` on the spatial axes of an input [N, C, ...]. INVALID_ARGUMENT if ranks do not
  /// agree, the window is larger than the padded input, or sizes overflow. Pools accept a window that exceeds the
  /// padded input by less than two strides (`may_exceed`), as ONNX Runtime does: the axis then has no output, or, if
  /// the excess is less than a stride, one output of the elements that exist.
  result<placed_window> place(const extents& input, std::span<const std::int64_t> kernel,
                              bool may_exceed = false) const;
  /// Places the window of ConvTranspose. `axes` describe the convolution whose gradient it is: `in` is the length of
  /// the result and `out` the length of the input.
  result<placed_window> place_transposed(const extents& input, std::span<const std::int64_t> kernel,
                                         std::span<const std::int64_t> output_padding,
                                         std::span<const std::int64_t> output_shape) const;
};

}  // namespace CAMEO_NAMESPACE::eps
