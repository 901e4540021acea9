#include <cameo/eps/cpu/decoder_masked_attention.hpp>

#include "attention_masks.hpp"
#include "attention_scores.hpp"
#include "beams.hpp"
#include "common/strided_copy.hpp"
#include "common/usable_sizes.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// The sizes of a call: what the inputs agree on.
struct decoder_sizes {
  std::int64_t batches, heads, size, value_size;
  std::int64_t past, room;  // positions before this one, and those that there is memory for
  bool cross, packed;       // keys and values are all given; or they lie in the query

  std::int64_t keys() const { return cross ? room : past + 1; }
  std::int64_t width() const { return heads * size; }
  std::int64_t value_width() const { return heads * value_size; }
};

status read_sizes(const run_context& c, std::int64_t heads, bool shares, decoder_sizes& out) {
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2), &past_k = c.input(5), &past_v = c.input(6);
  out = {q.shape.rank() == 3 ? q.shape[0] : 0, heads, 0, 0, 0, 1, k && k.shape.rank() == 4, !k};
  const auto refused = [&] {
    return bad_input("query ", q.shape, ", key ", k.shape, ", value ", v.shape, ", past_key ", past_k.shape,
                     " and past_value ", past_v.shape, " don't fit each other and ", heads, " heads");
  };
  if (q.shape.rank() != 3 || q.shape[1] != 1 || bool(k) != bool(v) || bool(past_k) != bool(past_v)) return refused();
  for (const value* one : {&q, &k, &v, &past_k, &past_v})
    if (*one)
      if (status s = usable_sizes("an input", one->shape); !s) return s;
  if (past_k && (past_k.shape.rank() != 4 || past_v.shape.rank() != 4)) return refused();
  if (out.packed ? !past_k : q.shape[2] % heads != 0) return refused();
  if (v && v.shape.rank() != (out.cross ? 4u : 3u)) return refused();
  out.size = out.packed ? past_k.shape[3] : q.shape[2] / heads;
  out.value_size = out.packed ? past_v.shape[3] : out.cross ? v.shape.back() : v.shape.back() / heads;
  const std::int64_t b = out.batches;
  if (out.packed && q.shape[2] != 2 * out.width() + out.value_width()) return refused();
  if (out.cross) {
    out.room = k.shape[2];
    const bool fits =
        k.shape == extents{b, heads, out.room, out.size} && v.shape == extents{b, heads, out.room, out.value_size};
    return fits ? status{} : refused();
  }
  if (!out.packed && (k.shape != extents{b, 1, out.width()} || v.shape != extents{b, 1, out.value_width()}))
    return refused();
  if (!past_k) return {};
  out.past = past_k.shape[2], out.room = out.past + 1;
  if (past_k.shape != extents{b, heads, out.past, out.size} ||
      past_v.shape != extents{b, heads, out.past, out.value_size})
    return refused();
  if (!shares) return {};
  const value& length = c.input(7);
  if (!length || length.shape.count() != 1) return bad_input("past_present_share_buffer needs past_sequence_length");
  out.room = out.past, out.past = integers{length}[0];
  if (out.past < 0 || out.past >= out.room)
    return bad_input("past_sequence_length is ", out.past, ", must be in [0,", out.room, ")");
  return {};
}

/// A row of a bias, or none, added to rows [batches, width] of a tensor, whose rows are `step` apart.
result<std::span<float>> with_bias(run_context& c, const float* from, std::int64_t step, const float* bias,
                                   std::int64_t batches, std::int64_t width) {
  const result<std::span<float>> made = c.scratch<float>(std::size_t(batches * width));
  if (!made) return made.error();
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t i = 0; i < width; ++i)
      (*made)[std::size_t(b * width + i)] = from[b * step + i] + (bias ? bias[i] : 0);
  return std::span<float>{*made};
}

/// Keys (or values) of the past and of now in an output [batch, heads, room, size], or in scratch.
result<float*> put_behind(run_context& c, const decoder_sizes& z, const value& past, std::span<const float> now,
                          std::int64_t size, std::size_t output) {
  value* present = nullptr;
  const extents shape{z.batches, z.heads, z.room, size};
  const result<float*> to = room_of_output<float>(c, output, shape, present);
  if (!to) return to.error();
  const std::int64_t old = past ? past.shape[2] : 0;
  const float* const from = past ? static_cast<const float*>(past.data) : nullptr;
  if (from && old == z.room) copy_bytes(c, *to, from, std::size_t(shape.count()) * sizeof(float));
  parallel_each(c, z.batches * z.heads, 1 + (1 << 16) / (old * size + 1), [&](std::int64_t head, std::size_t) {
    if (from && old != z.room) std::copy_n(from + head * old * size, old * size, *to + head * z.room * size);
    std::copy_n(now.data() + head * size, size, *to + (head * z.room + z.past) * size);
  });
  return *to;
}

}  // namespace

result<decoder_masked_attention> decoder_masked_attention::bind(bind_context& c) {
  const result<microsoft_attention> common = microsoft_attention::read(c);
  if (!common) return common.error();
  decoder_masked_attention made{*common, c.int_or("past_present_share_buffer", 0) != 0};
  if (made.shares) c.may_overwrite(1, 5), c.may_overwrite(2, 6);
  return made;
}

status decoder_masked_attention::run(run_context& c) const {
  decoder_sizes z{};
  if (status s = read_sizes(c, heads, shares, z); !s) return s;
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2), &bias = c.input(10);
  const std::int64_t width = z.width();
  if (bias && bias.shape != extents{2 * width + z.value_width()})
    return bad_input("bias ", bias.shape, " must be ", extents{2 * width + z.value_width()});
  const result<value*> y = c.output(0, extents{z.batches, 1, z.value_width()});
  if (!y) return y.error();
  const auto* const from = static_cast<const float*>(q.data);
  const auto bias_at = [&](std::int64_t i) { return bias ? static_cast<const float*>(bias.data) + i : nullptr; };
  const std::int64_t step = q.shape[2], value_width = z.value_width();
  const auto query = with_bias(c, from, step, bias_at(0), z.batches, width);
  if (!query) return query.error();
  key_rows keys{k.data, dtype::f32, head_layout::split(z.batches, heads, z.room, z.size)};
  key_rows values{v.data, dtype::f32, head_layout::split(z.batches, heads, z.room, z.value_size)};
  if (!z.cross) {
    const auto key = with_bias(c, z.packed ? from + width : static_cast<const float*>(k.data), z.packed ? step : width,
                               bias_at(width), z.batches, width);
    const auto given = with_bias(c, z.packed ? from + 2 * width : static_cast<const float*>(v.data),
                                 z.packed ? step : value_width, bias_at(2 * width), z.batches, value_width);
    if (!key || !given) return status_code::out_of_memory;
    const auto all_keys = put_behind(c, z, c.input(5), *key, z.size, 1);
    if (!all_keys) return all_keys.error();
    const auto all_values = put_behind(c, z, c.input(6), *given, z.value_size, 2);
    if (!all_values) return all_values.error();
    keys.data = *all_keys, values.data = *all_values;
  }
  if ((*y)->shape.count() == 0) return {};
  const head_layout at_q = head_layout::joined(z.batches, heads, 1, z.size, width);
  attention_work work = work_of({query->data(), at_q}, keys, values, z.keys(), scale);
  work.past = z.past;
  if (const value& beams = c.input(9); beams && !z.cross && z.past > 0)
    if (status s = follow_beams(c, beams, keys, values, work); !s) return s;
  if (status s = combine_masks(c, c.input(3), c.input(4), hidden_score, work); !s) return s;
  if (c.has_output(3))
    if (status s = write_scores(c, work, {3, work.keys}); !s) return s;
  return run_attention(c, work, **y);
}

}  // namespace cameo::inline CAMEO_ABI::eps
