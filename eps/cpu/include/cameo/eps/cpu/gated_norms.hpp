#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/microsoft.hpp>

namespace CAMEO_NAMESPACE::eps {

// Small operators of com.microsoft between the layers of language models. All compute in float, whether their operands
// are float, float16 or bfloat16; outputs have the type of the first input.

/// GatedRMSNorm: Y = X / sqrt(mean(X^2) + epsilon) * scale * f(gate), over runs of C elements, where C is the size of
/// `scale` and f is silu or sigmoid.
struct gated_rms_norm {
  using elements = text_model_elements;
  float epsilon = 1e-5f;
  bool silu = true;
  static result<gated_rms_norm> bind(bind_context&);
  status run(run_context&) const;
};

/// BranchwiseRMSNorm: the RMS norm of each branch of X (..., C, H), or (..., C * H) with num_branches, without a gate.
/// The scale may be absent, [H], [C, H] or [C * H].
struct branchwise_rms_norm {
  using elements = text_model_elements;
  std::int64_t branches = 0;
  float epsilon = 1e-5f;
  static result<branchwise_rms_norm> bind(bind_context&);
  status run(run_context&) const;
};

/// GatedAdd: X + Y * gate, with gate (..., 1). The product is rounded to the type of X before it is added.
struct gated_add {
  using elements = text_model_elements;
  static result<gated_add> bind(bind_context&) { return gated_add{}; }
  status run(run_context&) const;
};

/// ScaledSiLU: z * sigmoid(z), where z is X times the one element of the input `scale`, or without it X times alpha. z
/// and its sigmoid are rounded to the type of X.
struct scaled_silu {
  using elements = text_model_elements;
  float alpha = 1;
  static result<scaled_silu> bind(bind_context& c) {
    return scaled_silu{attributes_of<op::microsoft::ScaledSiLU>{c.attributes}.alpha};
  }
  status run(run_context&) const;
};

/// LinearAttentionGate: decay = decay_scale * softplus(a + dt_bias) and beta = sigmoid(b), with a and b (..., H).
struct linear_attention_gate {
  using elements = text_model_elements;
  static result<linear_attention_gate> bind(bind_context&) { return linear_attention_gate{}; }
  status run(run_context&) const;
};

/// HyperConnectionPreMix: Y[..., h] = reduction_scale * sum over c of X[..., c, h] * pre_mix, where pre_mix has an
/// element for each c or for each (c, h).
struct hyper_connection_pre_mix {
  using elements = text_model_elements;
  std::int64_t branches = 0;
  float scale = 1;
  static result<hyper_connection_pre_mix> bind(bind_context&);
  status run(run_context&) const;
};

/// HyperConnectionPostMix: Y[..., k, h] is the sum of two terms. The first is X[..., k, h], or, with stream_mix, the
/// sum over c of stream_mix[..., c, k] * X[..., c, h]. The second is post_mix * block_output[..., h], where post_mix
/// has an element for each k or for each (k, h).
struct hyper_connection_post_mix {
  using elements = text_model_elements;
  std::int64_t branches = 0;
  static result<hyper_connection_post_mix> bind(bind_context&);
  status run(run_context&) const;
};

/// EngramGate: gate * value, where gate = sigmoid(sign(d) * sqrt(max(|d|, 1e-6))) and d = sum of rms_norm(key) *
/// rms_norm(query) / sqrt(H). Key and query are [batch, sequence, branches, H], value is [batch, sequence, H]. The
/// optional second output is the rms_norm of the first.
struct engram_gate {
  using elements = text_model_elements;
  float epsilon = 1e-5f;
  static result<engram_gate> bind(bind_context& c) {
    return engram_gate{attributes_of<op::microsoft::EngramGate>{c.attributes}.epsilon};
  }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
