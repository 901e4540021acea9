#pragma once
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

struct integer_arithmetic;
struct depthwise_loops;

/// The weights of a convolution of quantized values, packed for the loops that multiply them; packed at binding if the
/// weights and their zero points are constant.
struct integer_filters {
  const integer_arithmetic* arithmetic = nullptr;  // the loops of a product; null: depthwise, a filter for each channel
  const depthwise_loops* depthwise = nullptr;      // the loops of a depthwise convolution
  const std::byte* data = nullptr;                 // null: packed in every run
};

/// The members that ConvInteger and QLinearConv share.
struct integer_conv_state {
  window shape = {};
  std::int64_t groups = 1;
  integer_filters packed = {};
  bool channels_last = false;

  static result<integer_conv_state> read(bind_context&, std::size_t w, std::size_t w_zero);
};

/// ConvInteger: y [N, M, out...] = (x [N, C, in...] - x_zero) * (w [M, C / group, kernel...] - w_zero) in int32, which
/// wraps around. w_zero is one number or one per filter. Padding adds nothing to the sums.
///
/// Scratch: an image of x with its channels last and its padding written out, of 1 or 2 bytes per element.
struct conv_integer : integer_conv_state {
  static result<conv_integer> bind(bind_context&);
  status run(run_context&) const;
};

/// QLinearConv: the sums of ConvInteger plus B [M], times x_scale * w_scale / y_scale in float, rounded with ties to
/// even, plus y's zero point, saturated to y's type. w's scale and zero point are one number or one per filter. With
/// the attribute channels_last of com.microsoft's operator, x and y are [N, in..., C] and [N, out..., M]; a uint8 image
/// without padding is then read in place.
struct qlinear_conv : integer_conv_state {
  /// The start of each filter's sum and its scale, computed at binding if everything that they depend on is constant;
  /// else null.
  const std::int32_t* start = nullptr;
  const float* scales = nullptr;
  static result<qlinear_conv> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
