// Operators of com.microsoft and of training whose output types do not follow from type strings, or whose shapes are
// known.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {

/// Hashes are unsigned by default.
status murmur_hash(infer_context& c) {
  const attributes_of<op::microsoft::MurmurHash3> a{c.attributes()};
  return give(c, 0, a.positive != 0 ? dtype::u32 : dtype::i32, copy_of(c.shape(0)));
}

/// The outputs of VarlenNGramHashMapping: numbers [tokens, tables], and the state that each request hands on.
status varlen_ngram_hash(infer_context& c) {
  const attributes_of<op::microsoft::VarlenNGramHashMapping> a{c.attributes()};
  const dims *ids = c.shape(0), *starts = c.shape(3);
  const std::int64_t before = a.max_ngram_size - 1;
  const dim requests = starts && (*starts)[0].known() ? dim::fixed((*starts)[0].size - 1) : dim{};
  give(c, 0, c.element(0), dims{ids ? (*ids)[0] : dim{}, dim::fixed(before * a.n_head_per_ngram)});
  const dims state{requests, dim::fixed(before)};
  give(c, 1, c.element(0), state);
  give(c, 2, dtype::i32, state);
  return give(c, 3, c.element(0), dims{requests, dim::fixed(a.state_update_capacity), state[1]});
}

/// GreedySearch and Sampling: sequences [batch, max_length], and the last logits [batch, words].
status token_search(infer_context& c) {
  const dims* const ids = c.shape(0);
  const dim batch = ids && ids->size() == 2 ? (*ids)[0] : dim{};
  give(c, 0, dtype::i32, dims{batch, dim{}});
  return give(c, 1, dtype::f32, dims{batch, dim{}});
}
/// BeamSearch: sequences [batch, wanted, max_length], their scores, and all scores [steps, batch, beams, words].
/// WhisperBeamSearch adds scores of cross attention [batch, wanted, heads, steps, length] and likelihoods [batch].
status beam_search(infer_context& c) {
  const dims* const ids = c.shape(0);
  const dim batch = ids && !ids->empty() ? (*ids)[0] : dim{};
  give(c, 0, dtype::i32, dims{batch, dim{}, dim{}});
  give(c, 1, dtype::f32, dims{batch, dim{}});
  give(c, 2, dtype::f32, dims{dim{}, batch, dim{}, dim{}});
  give(c, 3, dtype::f32, dims{batch, dim{}, dim{}, dim{}, dim{}});
  return give(c, 4, dtype::f32, dims{batch});
}

/// LinearAttention: Y [batch, length, heads * value size], present [batch, heads of keys, size, value size], with the
/// type of the past.
status linear_attention(infer_context& c) {
  const attributes_of<op::microsoft::LinearAttention> a{c.attributes()};
  const dims *q = c.shape(0), *v = c.shape(2);
  const dtype state = c.has_input(3) ? c.element(3) : c.element(0);
  if (!q || !v) {
    give(c, 0, c.element(0));
    return give(c, 1, state);
  }
  const auto share = [](dim whole, std::int64_t parts) {
    return whole.known() && whole.size % parts == 0 ? dim::fixed(whole.size / parts) : dim{};
  };
  const dim size = share((*q)[2], a.q_num_heads), value_size = share((*v)[2], a.kv_num_heads);
  const dim parts[] = {dim::fixed(std::max(a.q_num_heads, a.kv_num_heads)), value_size};
  const result<dim> width = product(parts);
  if (!width) return width.error();
  give(c, 0, c.element(0), dims{(*q)[0], (*q)[1], *width});
  dims present{(*q)[0], dim::fixed(a.kv_num_heads), size, value_size};
  if (a.state_window > 0) present.insert(present.begin(), dim::fixed(a.state_window));
  return give(c, 1, state, std::move(present));
}

/// A derivative has the type and shape of the input that it is taken by.
status gradient(infer_context& c) {
  for (std::size_t i = 0; i < c.output_count(); ++i) give_type_of(c, i, i);
  return status_code::ok;
}

/// Updates tensors. Inputs are the rate, the count of updates, all tensors, all gradients, and `kept` states of each
/// tensor; outputs are the new tensors and states.
static status updated(infer_context& c, std::size_t kept) {
  const std::size_t given = c.input_count() < 2 ? 0 : c.input_count() - 2, tensors = given / (2 + kept);
  if (given % (2 + kept) != 0)
    return invalid("has ", given, " inputs after the rate and the count, must have ", 2 + kept, " for each tensor");
  for (std::size_t i = 0; i < (1 + kept) * tensors; ++i) give(c, i, c.input(2 + (i < tensors ? i : i + tensors)));
  return status_code::ok;
}
status optimizer(infer_context& c) { return updated(c, 1); }
status optimizer_with_two(infer_context& c) { return updated(c, 2); }

/// com.microsoft's Unique: distinct elements and how often each occurs, [found]; for each input element, which of these
/// it is.
status unique_of_list(infer_context& c) {
  const dim count = c.fresh_symbol();
  give(c, 0, c.element(0), dims{count});
  give(c, 1, dtype::i64, copy_of(c.shape(0)));
  return give(c, 2, dtype::i64, dims{count});
}

/// QEmbedLayerNormalization: Y, with an embedding for each id, and mask_index.
status quantized_embedding(infer_context& c) {
  const dims *ids = c.shape(0), *table = c.shape(2);
  if (!ids) return status_code::ok;
  give(c, 0, dtype::f32, dims{(*ids)[0], (*ids)[1], table ? (*table)[1] : dim{}});
  return give(c, 1, c.element(0), dims{(*ids)[0]});
}

}  // namespace CAMEO_NAMESPACE::infer
