#pragma once
#include <cameo/eps/cpu/multi_head_attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's DecoderMaskedMultiHeadAttention: MultiHeadAttention of one query [batch, 1, hidden] for each
/// sequence. Its own key and value go behind those of the past, of which past_key and past_value [batch, heads, room,
/// size] hold the first past_sequence_length, in the same room when past_present_share_buffer is set; or key and value
/// [batch, heads, length, size] are all there is. cache_indirection [batch / beams, beams, room] says from which beam
/// of its batch each position of the past is. Without key and value, the query holds all three. The output qk has
/// scores before the softmax.
struct decoder_masked_attention : microsoft_attention {
  using elements = detail::element_set<float>;
  bool shares = false;  // past and present lie in the same room

  static result<decoder_masked_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
