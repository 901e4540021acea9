#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's GroupQueryAttention in float: query [batch, S, heads * size] with key and value [batch, S, key heads
/// * size], or query with all three in each row. Several heads of the query share one of key and value. seqlens_k
/// [batch] is the number of keys of each batch, past and new, less one; total_sequence_length the largest such number.
/// Where that is S, there is no past: query i sees those of keys [0, i] that its batch has. Queries after the keys of a
/// shorter batch are padding, which sees what a query there would. Else the new keys are appended to those of past_key
/// and past_value [batch, key heads, P, size], and the last query sees all. present_key and present_value are as long
/// as the past or as total_sequence_length, whichever is more; elements after the keys are 0. With do_rotary query and
/// key are rotated first (cos_cache, sin_cache; position_ids or their places). local_window_size: keys that a query
/// sees at most. head_sink [heads] (0 for smooth_softmax) is a score that takes weight and has no value. attention_bias
/// [1 or batch, 1 or heads, S, T] is added to scores. Without `causal` each query sees all keys of its batch. With
/// q_norm_weight and k_norm_weight [size] queries and new keys are divided by the root of their mean square first, and
/// multiplied by those. output_qk [batch, heads, S, T] has scores before (qk_output 1) or after (2) the softmax, 0 for
/// keys that are not seen.
///
/// Quantized caches: with k_quant_type and v_quant_type PER_TENSOR or PER_CHANNEL the past is int8 or float8e4m3fn, or
/// uint8 [batch, key heads, P, size / 2] with two numbers of 4 bits in each; a code stands for a number times k_scale
/// or v_scale, one or [1, key heads, 1, size] of them. New keys are rounded to codes before queries see them. Codes of
/// int8 are read where they lie; the others are unpacked in each run.
///
/// With sliding_window_cache the past keeps at least local_window_size of the last keys, P in all, by the rule of the
/// operator's description; positions and attention_bias count from the first key, forgotten or not.
struct group_query_attention {
  using elements = text_model_elements;
  /// Of the past: floats, or the types of quantized ones.
  using cache_elements = detail::element_set<float, float16, bfloat16, std::int8_t, std::uint8_t, float8e4m3fn>;
  std::int64_t heads = 0, key_heads = 0, window = -1;
  float scale = 0, softcap = 0, epsilon = 0;
  int code_bits = 0;  // of the caches' numbers: 4 or 8; 0: they are not quantized
  int shown = 0;      // scores that are an output: 1 before the softmax, 2 after it
  bool turns = false, interleaved = false, smooth = false, causal = true, forgets = false, per_channel = false;

  static result<group_query_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
