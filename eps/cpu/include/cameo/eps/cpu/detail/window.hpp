#pragma once
#include <cameo/core/extents.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// Axes after batch and channel.
inline constexpr std::size_t max_spatial = max_rank - 2;

/// How a window slides along one axis. All at least 1, pads at least 0; `out` windows of `kernel` elements.
struct window_axis {
  std::int64_t in, out, kernel, stride, dilation, pad_begin, pad_end;
  /// First and last + 1 of the window's elements that lie inside the input, for output position o.
  std::int64_t first(std::int64_t o) const {
    const std::int64_t start = o * stride - pad_begin;
    return start >= 0 ? 0 : std::min(kernel, (-start + dilation - 1) / dilation);
  }
  std::int64_t last(std::int64_t o) const {
    const std::int64_t start = o * stride - pad_begin;
    return start >= in ? 0 : std::min(kernel, (in - start + dilation - 1) / dilation);
  }
  /// The output positions [begin, end) whose windows have element k inside the input.
  struct range {
    std::int64_t begin, end;
  };
  range outputs_of(std::int64_t k) const {
    const std::int64_t shift = pad_begin - k * dilation;  // output o sees input o * stride - shift
    const std::int64_t begin = shift > 0 ? (shift + stride - 1) / stride : 0;
    const std::int64_t past = in - 1 + shift;
    return {begin, past < 0 ? begin : std::max(begin, std::min(out, past / stride + 1))};
  }
  /// Elements of the window at output o that lie inside the input; `with_pads`: inside the input and its pads.
  std::int64_t elements(std::int64_t o, bool with_pads) const {
    if (!with_pads) return std::max<std::int64_t>(0, last(o) - first(o));
    const std::int64_t room = in + pad_end - (o * stride - pad_begin);
    return room <= 0 ? 0 : std::min(kernel, (room + dilation - 1) / dilation);
  }
  /// Number of elements of the padded input that windows cover.
  std::int64_t padded() const { return (out - 1) * stride + (kernel - 1) * dilation + 1; }
};

/// A window over all spatial axes of an input.
struct placed_window {
  std::size_t rank = 0;
  window_axis axes[max_spatial] = {};
  /// Elements of a window, and outputs of a plane; checked not to overflow when it was placed.
  std::int64_t taps() const;
  std::int64_t in_count() const;
  std::int64_t out_count() const;
  bool covers_points() const;  // every kernel is 1
};

/// kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a node, if it has them. Spans are the plan's.
struct window {
  enum class padding : std::uint8_t { given, valid, same_upper, same_lower } pad = padding::given;
  bool ceil = false;
  bool clip_ceil = true;  // no window starts in the padding at the end
  std::span<const std::int64_t> kernel, strides, dilations, pads;

  /// Reads and checks the attributes; INVALID_GRAPH names the wrong one.
  static result<window> bind(const bind_context&);
  /// Puts a window of `kernel` on the spatial dims of an input [N, C, ...]. INVALID_ARGUMENT when ranks don't agree,
  /// the window is larger than the padded input or sizes overflow. Pools `may_exceed` it by less than two steps, as
  /// those of ONNX Runtime do: along that axis is no window then, and one by less than a step, which has the existing
  /// elements only.
  result<placed_window> place(const extents& input, std::span<const std::int64_t> kernel,
                              bool may_exceed = false) const;
  /// The window of ConvTranspose, seen from its output: `axes` describe the convolution whose gradient it is, so `in`
  /// is the length of the result and `out` the length of the input.
  result<placed_window> place_transposed(const extents& input, std::span<const std::int64_t> kernel,
                                         std::span<const std::int64_t> output_padding,
                                         std::span<const std::int64_t> output_shape) const;
};

}  // namespace CAMEO_NAMESPACE::eps
