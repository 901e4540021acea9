#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's GroupQueryAttention, computed in float. The query is [batch, S, heads * size], key and value are
/// [batch, S, key heads * size]; or the query contains all three in each row. Several heads of the query share one head
/// of key and value. seqlens_k [batch] contains the number of keys of each sequence, past and new, minus one;
/// total_sequence_length the largest such number.
///
/// If total_sequence_length is S, there is no past, and query i attends to those of keys [0, i] that its sequence has.
/// Queries after the end of a shorter sequence are padding; they attend to the keys that a query at that position
/// would. Otherwise the new keys are appended to past_key and past_value [batch, key heads, P, size], and the last
/// query attends to all keys. present_key and present_value are as long as the past or as total_sequence_length,
/// whichever is more; elements after the keys are 0.
///
/// Options: do_rotary first rotates query and key (cos_cache, sin_cache; by position_ids or by position).
/// local_window_size limits how many keys a query attends to. head_sink [heads] (0 with smooth_softmax) is a score that
/// takes weight and has no value. attention_bias [1 or batch, 1 or heads, S, T] is added to the scores. Without
/// `causal` each query attends to all keys of its sequence. With q_norm_weight and k_norm_weight [size], queries and
/// new keys are first divided by their root mean square and multiplied by these weights. output_qk [batch, heads, S, T]
/// contains the scores before (qk_output 1) or after (2) the softmax, and 0 for keys that are not attended to.
///
/// Quantized caches: if k_quant_type and v_quant_type are PER_TENSOR or PER_CHANNEL, the past is int8, float8e4m3fn, or
/// uint8 [batch, key heads, P, size / 2] with two 4-bit numbers in each byte. A quantized value times k_scale or
/// v_scale is the number; a scale is one number or [1, key heads, 1, size]. New keys are quantized before queries
/// attend to them. int8 is read in place; the other types are unpacked in each run.
///
/// With sliding_window_cache the past keeps at least the last local_window_size keys, P in all, by the rule of the
/// operator's description; positions and attention_bias count from the first key, whether it is still kept or not.
struct group_query_attention {
  using elements = text_model_elements;
  /// The element types of the past: floats, or the types of quantized caches.
  using cache_elements = detail::element_set<float, float16, bfloat16, std::int8_t, std::uint8_t, float8e4m3fn>;
  std::int64_t heads = 0, key_heads = 0, window = -1;
  float scale = 0, softcap = 0, epsilon = 0;
  int code_bits = 0;  // the bits of a quantized value of the caches: 4 or 8; 0: the caches are not quantized
  int shown = 0;      // the scores that are an output: 1 before the softmax, 2 after it
  bool rotates = false, interleaved = false, smooth = false, causal = true, forgets = false, per_channel = false;

  static result<group_query_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
