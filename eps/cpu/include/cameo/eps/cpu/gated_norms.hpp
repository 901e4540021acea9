#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Small operators of com.microsoft between the layers of language models. All compute in float, whatever of float,
// float16 and bfloat16 their operands have; outputs have the type of the first input.

/// Y = X / sqrt(mean of X² + epsilon) * scale * f(gate), over runs of as many elements as scale [C] has; f is silu or
/// sigmoid.
struct gated_rms_norm {
  using elements = text_model_elements;
  float epsilon = 1e-5f;
  bool silu = true;
  static result<gated_rms_norm> bind(bind_context&);
  status run(run_context&) const;
};

/// The same for each branch of (..., C, H), or (..., C * H) with num_branches, without a gate; scale may be absent,
/// [H], [C, H] or [C * H].
struct branchwise_rms_norm {
  using elements = text_model_elements;
  std::int64_t branches = 0;
  float epsilon = 1e-5f;
  static result<branchwise_rms_norm> bind(bind_context&);
  status run(run_context&) const;
};

/// X + Y * gate, gate (..., 1); the product is rounded to the type of X before it is added.
struct gated_add {
  using elements = text_model_elements;
  static result<gated_add> bind(bind_context&) { return gated_add{}; }
  status run(run_context&) const;
};

/// z * sigmoid(z) for z = X times `scale`, an input of one element, or else times alpha; z and its sigmoid are rounded
/// to the type of X.
struct scaled_silu {
  using elements = text_model_elements;
  float alpha = 1;
  static result<scaled_silu> bind(bind_context& c) { return scaled_silu{c.float_or("alpha", 1)}; }
  status run(run_context&) const;
};

/// decay = decay_scale * softplus(a + dt_bias) and beta = sigmoid(b), of a and b (..., H).
struct linear_attention_gate {
  using elements = text_model_elements;
  static result<linear_attention_gate> bind(bind_context&) { return linear_attention_gate{}; }
  status run(run_context&) const;
};

/// Y[..., h] = reduction_scale * sum over c of X[..., c, h] * pre_mix[..., c or c, h].
struct hyper_connection_pre_mix {
  using elements = text_model_elements;
  std::int64_t branches = 0;
  float scale = 1;
  static result<hyper_connection_pre_mix> bind(bind_context&);
  status run(run_context&) const;
};

/// Y[..., k, h] = sum over c of stream_mix[..., c, k] * X[..., c, h], or X[..., k, h], plus post_mix[..., k or k, h] *
/// block_output[..., h].
struct hyper_connection_post_mix {
  using elements = text_model_elements;
  std::int64_t branches = 0;
  static result<hyper_connection_post_mix> bind(bind_context&);
  status run(run_context&) const;
};

/// gate * value for gate = sigmoid(sign(d) * sqrt(max(|d|, 1e-6))), d = sum of rms_norm(key) * rms_norm(query) /
/// sqrt(H), for key and query [batch, sequence, branches, H] and value [batch, sequence, H]; and, if it is wanted,
/// rms_norm of that.
struct engram_gate {
  using elements = text_model_elements;
  float epsilon = 1e-5f;
  static result<engram_gate> bind(bind_context& c) { return engram_gate{c.float_or("epsilon", 1e-5f)}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
