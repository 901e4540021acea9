#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's and com.microsoft's LinearAttention. Every head has a state S [d_k, d_v], which each position updates to S =
/// e^g * S + beta * k (v - S^T k), or to a part of that formula, as update_rule defines; the output is scale * q^T S.
/// query, key and value are [batch, length, heads * size]; decay is [batch, length, key heads] or has a number for each
/// element of these heads; beta is [batch, length, key heads] or [..., 1]. Several heads of the query may share a key
/// head, or (in com.microsoft) the reverse. With state_window, past and present contain that many states, of the last
/// positions. A decay or beta that the rule does not use is not read. Computes in float.
struct linear_attention {
  using elements = text_model_elements;
  std::int64_t query_heads = 0, key_heads = 0, window = 0;
  float scale = 0;  // 0: 1 / sqrt(d_k)
  bool decays = false, corrects = false;

  static result<linear_attention> bind(bind_context&);
  status run(run_context&) const;
};

/// ONNX's and com.microsoft's CausalConvWithState: a separate kernel for each channel over the present and past
/// positions of the last axis (`dilation` apart), plus a bias, optionally followed by silu. past_state, or zeros,
/// precede the first position; present_state contains the positions that precede the next one. With channels_last the
/// input is [batch, length, channels...]. With state_window, the states of the last positions are returned one after
/// another. ndim above 1 is not supported. Computes in float.
struct causal_conv {
  using elements = text_model_elements;
  std::int64_t dilation = 1, window = 0;
  bool silu = false, channels_last = false;

  static result<causal_conv> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
