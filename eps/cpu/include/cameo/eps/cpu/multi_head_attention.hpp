#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The common part of the attention operators of com.microsoft.
struct microsoft_attention {
  using elements = text_model_elements;
  std::int64_t heads = 0;
  float scale = 0;              // 0: 1 / sqrt(size of a head)
  float hidden_score = -10000;  // is added to the score of a key that a mask hides
  bool causal = false;

  static result<microsoft_attention> read(const bind_context&);
};

/// com.microsoft's MultiHeadAttention in float: query [batch, S, hidden] with key and value [batch, L, hidden] or
/// [batch, heads, L, size]; or query [batch, S, heads, 3, size] with all in it; or key [batch, L, heads, 2, size] with
/// the values in it. bias is added to inputs that are not of rank 4. key_padding_mask is int32: [batch] numbers of
/// keys, [2 * batch] their ends, then their beginnings, or [batch, T] or [batch, S, T] with 0 at keys that don't count;
/// attention_bias [1 or batch, 1 or heads, S, T] is added to scores. past_key and past_value [batch, heads, P, size] go
/// before key and value; present_key and present_value are both, T = P + L. With past_sequence_length, only so many
/// rows of the past count, the new ones are put behind them, and present is as long as the past; a single query then
/// sees the past of those beams that cache_indirection [batch / beams, beams, P] names. Queries with `unidirectional`
/// see no key after their own position, but the last one sees all, as in ONNX Runtime (which matters only if L isn't
/// S). Scores are not stored in memory, but for the output qk, which has them before the softmax.
struct multi_head_attention : microsoft_attention {
  static result<multi_head_attention> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's Attention in float: input [batch, S, in] times weights [in, q + k + v] plus bias are query, key and
/// value; mask_index, attention_bias and `unidirectional` as key_padding_mask and so on above. past and present are
/// [2, batch, heads, P or P + S, size], keys then values. Constant weights are packed once. Not for do_rotary and for
/// a past with past_present_share_buffer.
struct projected_attention : microsoft_attention {
  std::int64_t sizes[3] = {};    // of Q, K and V: all heads; 0: a third of the weights
  const void* packed = nullptr;  // panels of the weights, in their type; see gemm_problem
  bool for_few_rows = false;

  static bool accepts(const bind_context&);
  static result<projected_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
