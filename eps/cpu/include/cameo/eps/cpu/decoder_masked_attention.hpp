#pragma once
#include <cameo/eps/cpu/multi_head_attention.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's DecoderMaskedMultiHeadAttention: MultiHeadAttention of one query [batch, 1, hidden] per sequence.
/// The new key and value are appended to the first past_sequence_length keys and values of past_key and past_value
/// [batch, heads, capacity, size]; with past_present_share_buffer, past and present are the same buffer. Without a
/// past, the inputs key and value are [batch, heads, length, size] and contain everything. cache_indirection [batch /
/// beams, beams, capacity] contains, for each position of the past, the beam that the position is read from. Without
/// key and value, the query contains all three. The output qk contains the scores before the softmax.
struct decoder_masked_attention : microsoft_attention {
  using elements = detail::element_set<float>;
  bool shares = false;  // past and present are the same buffer

  static result<decoder_masked_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
