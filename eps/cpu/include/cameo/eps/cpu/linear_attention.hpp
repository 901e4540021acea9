#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's and com.microsoft's LinearAttention: for every head a state S [d_k, d_v] that each position changes, S = e^g
/// * S + beta * k (v - S^T k) or a part of that, as update_rule says, and the output scale * q^T S. query, key and
/// value are [batch, length, heads * size]; decay is [batch, length, heads of keys] or has a number for each of their
/// elements; beta is [batch, length, heads of keys] or [..., 1]. Several heads of queries may share one of keys, or (in
/// com.microsoft) the reverse. state_window: past and present hold that many states, of the last positions. A
/// decay or beta that the rule does not ask for is not read. Computes in float.
struct linear_attention {
  using elements = text_model_elements;
  std::int64_t query_heads = 0, key_heads = 0, window = 0;
  float scale = 0;  // 0: 1 / sqrt(d_k)
  bool decays = false, corrects = false;

  static result<linear_attention> bind(bind_context&);
  status run(run_context&) const;
};

/// ONNX's and com.microsoft's CausalConvWithState: each channel's own kernel over the present and past positions of the
/// last axis (`dilation` apart), plus a bias, through silu if wanted. What lies before the first position is
/// past_state, or zeros; present_state is what comes before the next one. channels_last: [batch, length, channels...].
/// state_window: states of the last positions, behind one another. Not for ndim above 1. Computes in float.
struct causal_conv {
  using elements = text_model_elements;
  std::int64_t dilation = 1, window = 0;
  bool silu = false, channels_last = false;

  static result<causal_conv> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
