#pragma once
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// The common part of ConvInteger and QLinearConv.
struct integer_conv_state {
  window shape = {};
  std::int64_t groups = 1;

  static result<integer_conv_state> of(const bind_context&);
};

/// y [N, M, out...] = (x [N, C, in...] - x_zero) * (w [M, C / group, kernel...] - w_zero) in int32, which wraps. w_zero
/// is one number or one per filter. Padding adds nothing.
struct conv_integer : integer_conv_state {
  static result<conv_integer> bind(bind_context&);
  status run(run_context&) const;
};

/// The same on quantized tensors: sums in int32 plus B [M], times x_scale * w_scale / y_scale in float, rounded with
/// ties to even, plus y's zero point, saturated to y's type. w's scale and zero point are one number or one per filter.
/// With the attribute channels_last, of com.microsoft's operator, x and y are [N, in..., C] and [N, out..., M].
struct qlinear_conv : integer_conv_state {
  bool channels_last = false;

  static result<qlinear_conv> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
