#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's SparseAttention, computed in float: causal attention in which a query attends to some blocks of
/// sparse_block_size keys only. query is [batch, S, heads * size] with key and value [batch, S, key heads * size], or
/// the query contains all three in each row; several heads of the query share one head of key and value. The new keys
/// are appended to those of each sequence in past_key and past_value [batch, key heads, capacity, size];
/// key_total_sequence_lengths [batch] are the resulting lengths. If total_sequence_length is S, there is no past.
///
/// Row r of blocks of layout l attends to the blocks block_col_indices[l][block_row_indices[l][r]] and following, up to
/// the start of row r + 1; head h has layout h modulo the number of layouts. With do_rotary, query and key are first
/// rotated by their positions. The elements after the keys of the past are copied to present_key and present_value.
/// Scratch: for each head which keys a block of queries attends to, as [block, keys] floats.
struct sparse_attention {
  using elements = text_model_elements;
  std::int64_t heads = 0, key_heads = 0, block = 0;
  float scale = 0;
  bool rotates = false, interleaved = false;

  static result<sparse_attention> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
