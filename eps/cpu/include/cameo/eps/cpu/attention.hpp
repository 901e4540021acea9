#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

/// ONNX's Attention: Y = softmax(softcap(scale * Q * K^T) + bias) * V for every head. The bias is attn_mask, and minus
/// infinity for keys that is_causal, the window or nonpad_kv_seqlen exclude: an excluded key has no weight, and a query
/// for which all keys are excluded gives zeros. Q is [batch, heads, sequence, size] or [batch, sequence, heads * size],
/// K and V likewise; several heads of Q may share one head of K and V. float16 and bfloat16 are computed in float;
/// everything is computed in double if Q or V is double or softmax_precision is double. In float the scores are not
/// stored in memory unless qk_matmul_output returns them; in all other cases scratch holds the scores of as many heads
/// as take 32 MB, at least one.
struct attention {
  using elements = float_elements;
  static constexpr int raw_scores = 0, capped_scores = 1, biased_scores = 2, weights = 3;

  std::int64_t q_heads = 0, kv_heads = 0, left_window = -1, right_window = -1;  // -1: no bound
  std::optional<float> scale;                                                   // none: 1 / sqrt(size)
  double softcap = 0;
  bool causal = false, in_double = false;
  int shown = raw_scores;  // which scores the output qk_matmul_output holds

  static result<attention> bind(bind_context&);
  status run(run_context&) const;

 private:
  template <class C>
  status run_as(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
