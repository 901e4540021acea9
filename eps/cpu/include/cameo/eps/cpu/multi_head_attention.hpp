#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that the attention operators of com.microsoft share.
struct microsoft_attention {
  using elements = text_model_elements;
  std::int64_t heads = 0;
  float scale = 0;              // 0: 1 / sqrt(size of a head)
  float hidden_score = -10000;  // added to the score of a key that a mask hides
  bool causal = false;

  /// Reads the attributes of any of these operators.
  template <class Attributes>
  static microsoft_attention read(const Attributes& a) {
    microsoft_attention made{a.num_heads, a.scale.value_or(0), a.mask_filter_value.value_or(-10000)};
    if constexpr (requires { a.unidirectional; }) made.causal = a.unidirectional != 0;
    return made;
  }
};

/// com.microsoft's MultiHeadAttention, computed in float.
///
/// Inputs: query [batch, S, hidden] with key and value [batch, L, hidden] or [batch, heads, L, size]; or query [batch,
/// S, heads, 3, size], which contains all three; or key [batch, L, heads, 2, size], which contains the values. bias is
/// added to inputs whose rank is not 4. attention_bias [1 or batch, 1 or heads, S, T] is added to the scores.
/// key_padding_mask is int32: [batch] numbers of keys; [2 * batch] their ends, then their beginnings; or [batch, T] or
/// [batch, S, T] with 0 for keys that are ignored.
///
/// past_key and past_value [batch, heads, P, size] precede key and value; present_key and present_value contain both, T
/// = P + L. With past_sequence_length, only this number of rows of the past is read, the new rows follow, and present
/// is as long as the past; a single query then attends to the past of the beams in cache_indirection [batch / beams,
/// beams, P].
///
/// With `unidirectional`, queries attend to no key after their position, except that the last query attends to all
/// keys, as in ONNX Runtime (which matters only if L is not S). Scores are stored in memory only for the output qk,
/// which contains the scores before the softmax.
struct multi_head_attention : microsoft_attention {
  static result<multi_head_attention> bind(bind_context&);
  status run(run_context&) const;
};

/// com.microsoft's Attention, computed in float: query, key and value are the input [batch, S, in] times the weights
/// [in, q + k + v], plus a bias. mask_index, attention_bias and `unidirectional` are those of MultiHeadAttention,
/// mask_index being its key_padding_mask. past and present are [2, batch, heads, P or P + S, size], keys before values.
/// Constant weights are packed once. do_rotary, and a past with past_present_share_buffer, are not supported.
struct projected_attention : microsoft_attention {
  std::span<const std::int64_t> widths = {};  // of Q, K and V in all heads; empty: each a third of the weights' columns
  const void* packed = nullptr;               // the packed weights, in their own type; see gemm_problem
  bool for_few_rows = false;

  static bool accepts(const bind_context&);
  static result<projected_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
