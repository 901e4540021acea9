#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's SparseAttention in float: causal attention in which a query sees only some blocks of
/// sparse_block_size keys. query [batch, S, heads * size] with key and value [batch, S, key heads * size], or query
/// with all three in each row; several heads of the query share one of key and value. The new keys are put behind the
/// past ones of each batch in past_key and past_value [batch, key heads, capacity, size]; key_total_sequence_lengths
/// [batch] is how many there are then, and where total_sequence_length is S there is no past. Block row r of layout l
/// sees the blocks block_col_indices[l][block_row_indices[l][r]] and on, up to row r + 1; head h has layout h modulo
/// their number. With do_rotary query and key are rotated first, by their positions. What the past has
/// after the keys is in present_key and present_value, too. Scratch: for each head what a block of queries sees,
/// [block, keys] floats.
struct sparse_attention {
  using elements = text_model_elements;
  std::int64_t heads = 0, key_heads = 0, block = 0;
  float scale = 0;
  bool turns = false, interleaved = false;

  static result<sparse_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
