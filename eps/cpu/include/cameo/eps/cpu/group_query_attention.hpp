#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// com.microsoft's GroupQueryAttention in float: query [batch, S, heads * size] with key and value [batch, S, key heads
/// * size], or query with all three in each row. Several heads of the query share one of key and value. seqlens_k
/// [batch] is the number of keys of each batch, past and new, less one; total_sequence_length the largest such number.
/// Where that is S, there is no past: query i sees keys [0, i]. Else the new keys are appended to those of past_key and
/// past_value [batch, key heads, P, size], and the last query sees all. present_key and present_value are as long as
/// the past or as total_sequence_length, whichever is more; elements after the keys are 0. With do_rotary query and key
/// are rotated first (cos_cache, sin_cache; position_ids or their places). local_window_size: keys that a query sees
/// at most. head_sink [heads] (0 for smooth_softmax) is a score that takes weight and has no value. attention_bias [1
/// or batch, 1 or heads, S, T] is added to scores. Not for quantized caches, normalised queries and the output of
/// scores.
struct group_query_attention {
  using elements = text_model_elements;
  std::int64_t heads = 0, key_heads = 0, window = -1;
  float scale = 0, softcap = 0;
  bool turns = false, interleaved = false, smooth = false;

  static bool accepts(const bind_context&);
  static result<group_query_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
