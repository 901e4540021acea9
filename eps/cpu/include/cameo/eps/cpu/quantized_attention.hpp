#pragma once
#include <cameo/eps/cpu/detail/integer_factor.hpp>
#include <cameo/eps/cpu/multi_head_attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's QAttention: its Attention, where input and weights are codes. Their product is formed in integers,
/// as MatMulIntegerToFloat does; constant weights are packed once. Not for do_rotary and for a past with
/// past_present_share_buffer.
struct quantized_attention : microsoft_attention {
  using elements = detail::element_set<float>;  // scales, bias and Y
  integer_factor weights = {};

  static bool accepts(const bind_context&);
  static result<quantized_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
