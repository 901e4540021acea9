// Operators that com.microsoft adds for transformers.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/microsoft.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// One of `parts` equal shares of a dim; unknown if it is not a multiple.
dim share(const dim& whole, std::int64_t parts) {
  return whole.known() && parts > 0 && whole.size % parts == 0 ? dim::fixed(whole.size / parts) : dim{};
}
/// The size of one head: a share of the last axis of [batch, length, hidden], or the last axis of a shape with an axis
/// of heads.
dim head_size(const dims* x, std::int64_t heads) {
  if (!x) return {};
  return x->size() == 3 ? share(x->back(), heads) : x->back();
}
/// The number of keys: those of the past (axis `axis` of an input, which may be absent) and `now`.
result<dim> with_past(const infer_context& c, std::size_t input, std::size_t axis, const dim& now) {
  if (c.input_count() <= input) return now;
  const dims* past = c.shape(input);
  if (!past) return dim{};
  return sum((*past)[axis], now);
}

}  // namespace

/// com.microsoft's Attention: Y [batch, sequence, v], present [2, batch, heads, past + sequence, size].
status projected_attention(infer_context& c) {
  const attributes_of<op::microsoft::Attention> a{c.attributes()};
  const dims *x = c.shape(0), *weights = c.shape(1);
  if (!x) return status_code::ok;
  dim hidden;
  if (a.qkv_hidden_sizes.size() == 3) hidden = dim::fixed(a.qkv_hidden_sizes[2]);
  else if (weights) hidden = share((*weights)[1], 3);
  give(c, 0, c.element(0), dims{(*x)[0], (*x)[1], hidden});
  result<dim> total = with_past(c, 4, 3, (*x)[1]);
  if (!total) return total.error();
  return give(c, 1, c.element(0),
              dims{dim::fixed(2), (*x)[0], dim::fixed(a.num_heads), *total, share(hidden, a.num_heads)});
}

/// com.microsoft's MultiHeadAttention: Y [batch, sequence, v], present key and value [batch, heads, keys, size].
status multi_head_attention(infer_context& c) {
  const std::int64_t heads = attributes_of<op::microsoft::MultiHeadAttention>{c.attributes()}.num_heads;
  const dims *q = c.shape(0), *k = c.shape(1), *v = c.shape(2);
  if (!q) return status_code::ok;
  const dim size = head_size(q, heads);
  dim value_size = size, length = (*q)[1];
  if (c.has_input(1)) {
    length = k ? (*k)[k->size() == 4 ? 2 : 1] : dim{};
    if (c.has_input(2)) value_size = head_size(v, heads);
  }
  const dim parts[] = {dim::fixed(heads), value_size};
  result<dim> hidden = product(parts), total = with_past(c, 6, 2, length);
  if (!hidden) return hidden.error();
  if (!total) return total.error();
  const bool has_space = c.has_input(6) && c.has_input(8);  // past_sequence_length: the past has space for new keys
  const dims* past = has_space ? c.shape(6) : nullptr;
  const dim rows = !has_space ? *total : past ? (*past)[2] : dim{};
  give(c, 0, c.element(0), dims{(*q)[0], (*q)[1], *hidden});
  give(c, 1, c.element(0), dims{(*q)[0], dim::fixed(heads), rows, size});
  give(c, 2, c.element(0), dims{(*q)[0], dim::fixed(heads), rows, value_size});
  return give(c, 3, c.element(0), dims{(*q)[0], dim::fixed(heads), (*q)[1], has_space ? dim{} : *total});
}

/// com.microsoft's GroupQueryAttention: Y [batch, sequence, heads * size]. The length of the present is only known in a
/// run.
status group_query_attention(infer_context& c) {
  const attributes_of<op::microsoft::GroupQueryAttention> a{c.attributes()};
  const dims* q = c.shape(0);
  if (!q || a.kv_num_heads > 1 << 20) return status_code::ok;
  const dim size = share((*q)[2], c.has_input(1) ? a.num_heads : a.num_heads + 2 * a.kv_num_heads);
  const dim parts[] = {dim::fixed(a.num_heads), size};
  result<dim> hidden = product(parts);
  if (!hidden) return hidden.error();
  give(c, 0, c.element(0), dims{(*q)[0], (*q)[1], *hidden});
  // A cache with a sliding window keeps its length; one of 4 bits has two numbers in an element.
  const dims* past = c.has_input(3) ? c.shape(3) : nullptr;
  const bool stays = a.sliding_window_cache != 0, packs = a.kv_cache_bit_width == 4;
  const dim rows = stays && past ? (*past)[2] : dim{};
  const dim width = !packs ? size : past ? past->back() : dim{};
  for (const std::size_t i : {1, 2})
    give(c, i, c.element(c.has_input(3) ? 3 : 0), dims{(*q)[0], dim::fixed(a.kv_num_heads), rows, width});
  return give(c, 3, c.element(0), dims{(*q)[0], dim::fixed(a.num_heads), (*q)[1], dim{}});
}

/// com.microsoft's SparseAttention: Y as that of GroupQueryAttention; the caches keep their types and shapes.
status sparse_attention(infer_context& c) {
  if (status s = group_query_attention(c); !s) return s;
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
