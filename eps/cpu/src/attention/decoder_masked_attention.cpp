#include <cameo/eps/cpu/decoder_masked_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "attention_masks.hpp"
#include "beams.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The sizes of a call, on which the inputs agree.
struct decoder_sizes {
  std::int64_t batches, heads, size, value_size;
  std::int64_t past, capacity;  // positions before this one, and the capacity of past_key and past_value
  bool cross, packed;           // key and value contain everything; the query contains all three

  std::int64_t keys() const { return cross ? capacity : past + 1; }
  std::int64_t width() const { return heads * size; }
  std::int64_t value_width() const { return heads * value_size; }
};

status read_sizes(const run_context& c, std::int64_t heads, bool shares, decoder_sizes& out) {
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2), &past_k = c.input(5), &past_v = c.input(6);
  out = {q.shape[0], heads, 0, 0, 0, 1, k && k.shape.rank() == 4, !k};
  const status checked = check_all({usable_inputs(c, {0, 1, 2, 5, 6}), check_together("key", bool(k), "value", bool(v)),
                                    check_together("past_key", bool(past_k), "past_value", bool(past_v)),
                                    check_needs("a query without key", !k, "past_key", bool(past_k))});
  if (!checked) return checked;
  if (status s = check_count("the shape of value", std::int64_t(v.shape.rank()), std::int64_t(k.shape.rank())); !s)
    return s;
  const auto size_of = [&](const value& now, const value& past) {
    return out.packed ? past.shape[3] : out.cross ? now.shape[3] : now.shape[2] / heads;
  };
  out.size = size_of(k, past_k), out.value_size = size_of(v, past_v);
  const std::int64_t row = out.width() + (out.packed ? out.width() + out.value_width() : 0);
  if (status s = check_count("a row of query", q.shape[2], row); !s) return s;
  if (out.cross) return out.capacity = k.shape[2], status{};
  if (!past_k) return {};
  out.past = past_k.shape[2], out.capacity = out.past + 1;
  if (!shares) return {};
  const value& length = c.input(7);
  if (status s = check_needs("past_present_share_buffer", true, "past_sequence_length", bool(length)); !s) return s;
  out.capacity = out.past, out.past = integers{length}[0];
  return check_number("past_sequence_length", out.past, 0, out.capacity - 1);
}

}  // namespace

result<decoder_masked_attention> decoder_masked_attention::bind(bind_context& c) {
  const attributes_of<op::microsoft::DecoderMaskedMultiHeadAttention> a{c.attributes};
  decoder_masked_attention made{read(a), a.past_present_share_buffer.value_or(0) != 0};
  if (made.shares) c.may_overwrite(1, 5), c.may_overwrite(2, 6);
  return made;
}

status decoder_masked_attention::run(run_context& c) const {
  decoder_sizes z{};
  if (status s = read_sizes(c, heads, shares, z); !s) return s;
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2), &bias = c.input(10);
  const std::int64_t width = z.width();
  if (status s = check_input("bias", bias, {2 * width + z.value_width()}); !s) return s;
  const result<value*> y = c.output(0, extents{z.batches, 1, z.value_width()});
  if (!y) return y.error();
  const auto part = [&](std::int64_t first, std::int64_t size) {
    return added_bias{bias ? static_cast<const float*>(bias.data) + first : nullptr, size, true};
  };
  const auto heads_of = [&](const value& from, std::int64_t first, std::int64_t size) {
    return head_tensor{from, joined_heads(z.batches, heads, 1, size, from.shape[2], first)};
  };
  const auto query = wide_heads<float>(c, heads_of(q, 0, z.size), part(0, z.size));
  if (!query) return query.error();
  result<key_rows> keys = key_rows{k.data, dtype::f32, split_heads(z.batches, heads, z.capacity, z.size)};
  result<key_rows> values = key_rows{v.data, dtype::f32, split_heads(z.batches, heads, z.capacity, z.value_size)};
  if (!z.cross) {
    const value &past_k = c.input(5), &past_v = c.input(6);
    const bool has_space = past_k && shares;
    const head_tensor new_keys = z.packed ? heads_of(q, width, z.size) : heads_of(k, 0, z.size);
    const head_tensor new_values = z.packed ? heads_of(q, 2 * width, z.value_size) : heads_of(v, 0, z.value_size);
    keys = past_and_new(c, new_keys, {past_k, z.past, has_space}, true, 1, part(width, z.size));
    if (!keys) return keys.error();
    values = past_and_new(c, new_values, {past_v, z.past, has_space}, true, 2, part(2 * width, z.value_size));
    if (!values) return values.error();
  }
  if ((*y)->shape.count() == 0) return {};
  attention_work work = work_of(*query, *keys, *values, z.keys(), scale);
  work.past = z.past;
  if (const value& beams = c.input(9); beams && !z.cross && z.past > 0)
    if (status s = follow_beams(c, beams, *keys, *values, work); !s) return s;
  return attend_with_masks(c, c.input(3), c.input(4), hidden_score, {3, work.keys}, work, **y);
}

}  // namespace CAMEO_NAMESPACE::eps
