#include <cameo/eps/cpu/decoder_masked_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "attention_masks.hpp"
#include "beams.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads the sizes of a call. Without a key, a row of the query contains those of query, key and value.
result<geometry::attention> read_sizes(const run_context& c, std::int64_t heads, bool shares) {
  const value &q = c.input(0), &k = c.input(1), &past_k = c.input(5), &past_v = c.input(6), &length = c.input(7);
  const bool crosses = k && k.shape.rank() == 4;  // key and value contain everything
  const status checked = check_all(
      {usable_inputs(c, {0, 1, 2, 5, 6}), check_together("past_key", bool(past_k), "past_value", bool(past_v)),
       check_together("key", bool(k), "value", bool(c.input(2))),
       check_needs("a query without key", !k, "past_key", bool(past_k)),
       check_needs("past_present_share_buffer", shares && past_k && !crosses, "past_sequence_length", bool(length))});
  if (!checked) return checked;
  geometry::attention_inputs in = shapes_of(c, 5);
  in.bias = geometry::shape_of(c.input(10));
  if (crosses) in.past_key = in.past_value = {}, in.has_past = false;
  in.has_past_length = shares && in.has_past;
  if (in.has_past_length) in.past_length = integers{length}[0];
  const std::int64_t width = k ? 0 : heads * past_k.shape[3], value_width = k ? 0 : heads * past_v.shape[3];
  const extents part{q.shape[0], 1, width}, value_part{q.shape[0], 1, value_width};
  if (!k) {
    if (status s = check_count("a row of query", q.shape[2], 2 * width + value_width); !s) return s;
    in.query = in.key = part, in.value = value_part, in.has_key = in.has_value = true;
  }
  result<geometry::attention> made = geometry::multi_head_attention_of<std::int64_t>(in, heads);
  if (!made || k) return made;
  for (geometry::attention_heads* const one : {&made->q, &made->k, &made->v})
    one->batch_stride = one->row_stride = q.shape[2];
  made->k.first = width, made->v.first = 2 * width;
  return made;
}

}  // namespace

result<decoder_masked_attention> decoder_masked_attention::bind(bind_context& c) {
  const attributes_of<op::microsoft::DecoderMaskedMultiHeadAttention> a{c.attributes};
  decoder_masked_attention made{read(a), a.past_present_share_buffer.value_or(0) != 0};
  if (made.shares) c.may_overwrite(1, 5), c.may_overwrite(2, 6);
  return made;
}

status decoder_masked_attention::run(run_context& c) const {
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2), &bias = c.input(10);
  const result<geometry::attention> z = read_sizes(c, heads, shares);
  if (!z) return z.error();
  const bool crosses = k && k.shape.rank() == 4;
  const std::int64_t size = z->q.size, value_size = z->v.size;
  const result<value*> y = c.output(0, z->y);
  if (!y) return y.error();
  const auto part = [&](std::int64_t first, std::int64_t n) {
    return added_bias{bias ? static_cast<const float*>(bias.data) + first : nullptr, n, true};
  };
  const auto query = wide_heads<float>(c, {q, z->q}, part(0, size));
  if (!query) return query.error();
  result<key_rows> keys = key_rows{k.data, dtype::f32, z->k}, values = key_rows{v.data, dtype::f32, z->v};
  if (!crosses) {
    const value &past_k = c.input(5), &past_v = c.input(6);
    const bool has_space = past_k && shares;
    keys = past_and_new(c, {k ? k : q, z->k}, {past_k, z->past, has_space}, true, 1, part(heads * size, size));
    if (!keys) return keys.error();
    values =
        past_and_new(c, {v ? v : q, z->v}, {past_v, z->past, has_space}, true, 2, part(2 * heads * size, value_size));
    if (!values) return values.error();
  }
  if ((*y)->shape.count() == 0) return {};
  attention_work work = work_of(*query, *keys, *values, z->keys, scale);
  work.past = z->past;
  if (const value& beams = c.input(9); beams && !crosses && z->past > 0)
    if (status s = follow_beams(c, beams, *keys, *values, work); !s) return s;
  return attend_with_masks(c, c.input(3), c.input(4), hidden_score, {3, work.keys}, work, **y);
}

}  // namespace CAMEO_NAMESPACE::eps
