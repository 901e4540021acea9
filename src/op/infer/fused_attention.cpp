// Operators that com.microsoft adds for transformers.
#include <cameo/geometry/attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

namespace CAMEO_NAMESPACE::infer {

/// com.microsoft's Attention: Y and present.
status projected_attention(infer_context& c) {
  const attributes_of<op::microsoft::Attention> a{c.attributes()};
  const bool has_present = c.has_input(4);  // an output of the node may be left out, too, which is only known in a run
  const auto made = geometry::projected_attention_of(shape_of(c, 0), shape_of(c, 1), a.num_heads, a.qkv_hidden_sizes,
                                                     shape_of(c, 4), c.input_count() > 4, has_present);
  if (!made) return made.error();
  give(c, 0, c.element(0), copy_of(made->y.view()));
  return give(c, 1, c.element(0), copy_of(made->present.view()));
}

namespace {
/// An input without a type may be one that the node does not have. The ranks of others decide, as far as they are
/// known.
geometry::basic_attention_inputs<dim> multi_head_inputs(const infer_context& c) {
  geometry::basic_attention_inputs<dim> in{.query = shape_of(c, 0), .key = shape_of(c, 1), .value = shape_of(c, 2)};
  in.bias = shape_of(c, 3), in.past_key = shape_of(c, 6), in.past_value = shape_of(c, 7);
  in.has_key = c.has_input(1) || c.has_input(2) || in.query.rank() == 3;
  in.has_value = in.has_key && (c.has_input(2) || in.key.rank() != 5);
  in.has_past = c.input_count() > 6, in.has_past_length = c.has_input(6) && c.has_input(8),
  in.past_length = only_element(c, 8);
  return in;
}

status give_attention(infer_context& c, const result<geometry::basic_attention<dim>>& made, dtype cache) {
  if (!made) return made.error();
  give(c, 0, c.element(0), copy_of(made->y.view()));
  give(c, 1, cache, copy_of(made->present_key.view()));
  give(c, 2, cache, copy_of(made->present_value.view()));
  return give(c, 3, c.element(0), copy_of(made->scores.view()));
}

/// GroupQueryAttention and SparseAttention; `total` is the number of all keys. Keys and a past that seem to be absent
/// may be ones of unknown type.
status group_query(infer_context& c, dim total) {
  const attributes_of<op::microsoft::GroupQueryAttention> a{c.attributes()};
  geometry::basic_attention_inputs<dim> in{.query = shape_of(c, 0), .key = shape_of(c, 1), .value = shape_of(c, 2)};
  in.past_key = shape_of(c, 3), in.has_past = true, in.total_length = total;
  in.has_key = in.has_value = c.has_input(1) || c.has_input(2);
  const geometry::group_query_attributes how{a.num_heads, a.kv_num_heads,
                                             a.sliding_window_cache != 0 ? a.local_window_size : 0,
                                             a.kv_cache_bit_width.value_or(0)};
  auto made = geometry::group_query_attention_of(in, how);
  if (!made && !in.has_key) in.has_key = in.has_value = true, made = geometry::group_query_attention_of(in, how);
  return give_attention(c, made, c.element(c.has_input(3) ? 3 : 0));
}
}  // namespace

/// com.microsoft's MultiHeadAttention: Y, present key and value, and scores.
status multi_head_attention(infer_context& c) {
  const std::int64_t heads = attributes_of<op::microsoft::MultiHeadAttention>{c.attributes()}.num_heads;
  return give_attention(c, geometry::multi_head_attention_of(multi_head_inputs(c), heads), c.element(0));
}

/// com.microsoft's GroupQueryAttention: Y, present key and value, and scores.
status group_query_attention(infer_context& c) { return group_query(c, only_element(c, 6)); }

/// com.microsoft's SparseAttention: Y as that of GroupQueryAttention; the caches keep their types and shapes.
status sparse_attention(infer_context& c) {
  if (status s = group_query(c, {}); !s) return s;
  for (const std::size_t i : {1, 2}) give_type_of(c, i, 2 + i);
  return status_code::ok;
}

/// com.microsoft's EmbedLayerNormalization: Y and the sum [batch, sequence, size], mask_index [batch].
status embed_layer_normalization(infer_context& c) {
  const dims *ids = c.shape(0), *table = c.shape(2);
  if (!ids) return status_code::ok;
  const dim size = table ? (*table)[1] : dim{};
  give(c, 0, c.element(2), dims{(*ids)[0], (*ids)[1], size});
  give(c, 1, c.element(0), dims{(*ids)[0]});
  return give(c, 2, c.element(2), dims{(*ids)[0], (*ids)[1], size});
}

}  // namespace CAMEO_NAMESPACE::infer
