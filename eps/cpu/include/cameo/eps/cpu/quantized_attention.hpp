#pragma once
#include <cameo/eps/cpu/detail/integer_factor.hpp>
#include <cameo/eps/cpu/multi_head_attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's QAttention: com.microsoft's Attention with quantized input and weights. Their product is computed in
/// integers, as in MatMulIntegerToFloat; constant weights are packed once. do_rotary, and a past with
/// past_present_share_buffer, are not supported.
struct quantized_attention : microsoft_attention {
  using elements = detail::element_set<float>;  // of scales, bias and Y
  integer_factor weights = {};

  static bool accepts(const bind_context&);
  static result<quantized_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
