#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's Attention: Y = softmax(softcap(scale * Q * K^T) + bias) * V for every head, where bias is what attn_mask,
/// is_causal, the window and nonpad_kv_seqlen allow: a key that one of them forbids has no weight, and a query without
/// any allowed key gives zeros. Q [batch, heads, sequence, size] or [batch, sequence, heads * size], K and V likewise;
/// several heads of Q may share one of K and V. Narrow floats compute in float; in double where Q or V is double or
/// softmax_precision asks for it. In float the scores are never stored in memory, unless
/// qk_matmul_output returns them; otherwise scratch holds those of as many heads as take 32 MB, at least one.
struct attention {
  using elements = float_elements;
  static constexpr int raw_scores = 0, capped_scores = 1, biased_scores = 2, weights = 3;

  std::int64_t q_heads = 0, kv_heads = 0, left_window = -1, right_window = -1;  // -1: no bound
  double scale = 0, softcap = 0;                                                // scale 0: 1 / sqrt(size)
  bool has_scale = false, causal = false, in_double = false;
  int shown = raw_scores;  // the content of the output qk_matmul_output

  static result<attention> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
