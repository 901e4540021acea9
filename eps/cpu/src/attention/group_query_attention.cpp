#include <cameo/eps/cpu/group_query_attention.hpp>

#include "common/usable_sizes.hpp"
#include "group_parts.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

status check_past(run_context& c, std::int64_t heads, group_sizes& s) {
  const value &past_k = c.input(3), &past_v = c.input(4);
  if (bool(past_k) != bool(past_v)) return bad_input("past_key and past_value go together");
  s.past = 0;
  if (!past_k) return {};
  const extents& shape = past_k.shape;
  if (shape.rank() != 4 || past_v.shape != shape || shape[0] != s.batches || shape[1] != heads || shape[3] != s.size)
    return bad_input("past_key ", shape, " and past_value ", past_v.shape, " must be [", s.batches, ",", heads,
                     ",past,", s.size, "]");
  s.past = shape[2];
  return usable_sizes("past_key", shape);
}

status read_sizes(run_context& c, std::int64_t heads, std::int64_t key_heads, group_sizes& s) {
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2), &lengths = c.input(5), &total = c.input(6);
  if (q.shape.rank() != 3) return bad_input("query ", q.shape, " must be [batch, sequence, size]");
  if (bool(k) != bool(v)) return bad_input("key and value go together");
  const std::int64_t rows = k ? heads : heads + 2 * key_heads;
  s.batches = q.shape[0], s.length = q.shape[1], s.size = q.shape[2] / rows;
  const extents keys{s.batches, s.length, key_heads * s.size};
  if (q.shape[2] % rows != 0 || (k && (k.shape != keys || v.shape != keys)))
    return bad_input("query ", q.shape, " and key ", k.shape, " don't fit ", heads, " heads and ", key_heads,
                     " of keys; key and value must be ", keys);
  if (status usable = usable_sizes("query", q.shape); !usable) return usable;
  if (lengths.shape.count() != s.batches) return bad_input("seqlens_k ", lengths.shape, " must be [", s.batches, "]");
  if (total.shape.count() != 1) return bad_input("total_sequence_length must be one number, not ", total.shape);
  if (status past = check_past(c, key_heads, s); !past) return past;
  s.lengths = static_cast<const std::int32_t*>(lengths.data);
  s.total = *static_cast<const std::int32_t*>(total.data);
  if (s.total < s.length) return bad_input("total_sequence_length ", s.total, " is below the ", s.length, " new keys");
  s.first = s.total == s.length;
  s.total = std::max(s.total, s.past);
  for (std::int64_t b = 0; b < s.batches; ++b) {
    const bool fits = s.first ? s.keys(b) >= 1 && s.keys(b) <= s.length
                              : s.past_of(b) >= 0 && s.past_of(b) <= s.past && s.keys(b) <= s.total;
    if (!fits)
      return bad_input("seqlens_k has ", s.lengths[b], ": ", s.keys(b), " keys, of which ", s.length,
                       " are new, don't fit a past of ", s.past, " and a total of ", s.total);
  }
  return {};
}

}  // namespace

bool group_query_attention::accepts(const bind_context& c) {
  return c.string_or("k_quant_type", "NONE") == "NONE" && c.string_or("v_quant_type", "NONE") == "NONE" &&
         c.int_or("qk_output", 0) == 0 && c.int_or("sliding_window_cache", 0) == 0 && c.int_or("causal", 1) == 1 &&
         !c.has_output(3) && !c.has_input(12) && !c.has_input(13) && !c.has_input(14) && !c.has_input(15);
}
result<group_query_attention> group_query_attention::bind(bind_context& c) {
  group_query_attention made;
  made.heads = c.int_or("num_heads", 0), made.key_heads = c.int_or("kv_num_heads", 0);
  if (made.key_heads < 1 || made.heads < 1 || made.heads > 1 << 20 || made.heads % made.key_heads != 0)
    return bad_attribute("num_heads ", made.heads, " must be a multiple of kv_num_heads ", made.key_heads);
  made.window = c.int_or("local_window_size", -1);
  made.scale = c.float_or("scale", 0), made.softcap = c.float_or("softcap", 0);
  made.turns = c.int_or("do_rotary", 0) != 0, made.interleaved = c.int_or("rotary_interleaved", 0) != 0;
  made.smooth = c.int_or("smooth_softmax", -1) > 0;
  return made;
}

status group_query_attention::run(run_context& c) const {
  group_sizes s{};
  if (status read = read_sizes(c, heads, key_heads, s); !read) return read;
  const value &bias = c.input(10), &sink = c.input(11);
  const result<value*> y = c.output(0, extents{s.batches, s.length, heads * s.size});
  if (!y) return y.error();
  rotation angles{s};
  angles.interleaved = interleaved;
  if (turns)
    if (status read = read_rotation(c, s, c.input(7), c.input(8), c.input(9), angles); !read) return read;
  const result<group_rows> rows = read_group(c, s, heads, key_heads, turns ? &angles : nullptr);
  if (!rows) return rows.error();
  if ((*y)->shape.count() == 0) return {};

  attention_work work = group_work(s, *rows, heads, key_heads, scale);
  work.softcap = softcap;
  if (window > 0) work.left_window = window - 1;
  if (!s.first) {
    const auto lengths = c.scratch<std::int64_t>(std::size_t(s.batches));
    if (!lengths) return lengths.error();
    for (std::int64_t b = 0; b < s.batches; ++b) (*lengths)[std::size_t(b)] = s.keys(b);
    work.lengths = lengths->data();
  }
  if (bias) {
    const extents& b = bias.shape;
    if (b.rank() != 4 || (b[0] != 1 && b[0] != s.batches) || (b[1] != 1 && b[1] != heads) || b[2] != s.length)
      return bad_input("attention_bias ", b, " must be [1 or batch, 1 or heads, ", s.length, ", keys]");
    const auto read = wide_scores(c, bias);
    if (!read) return read.error();
    work.bias = *read, work.bias_keys = b[3];
    work.at_bias = {b[0] == 1 ? 0 : b[1] * b[2] * b[3], b[1] == 1 ? 0 : b[2] * b[3], b[3]};
  }
  if (sink) {
    if (sink.shape != extents{heads}) return bad_input("head_sink ", sink.shape, " must be ", extents{heads});
    const auto read = wide_vector<float>(c, sink);
    if (!read) return read.error();
    work.sinks = *read;
  } else if (smooth) {
    const auto zeros = c.scratch<float>(std::size_t(heads));
    if (!zeros) return zeros.error();
    std::fill(zeros->begin(), zeros->end(), 0.0f);
    work.sinks = zeros->data();
  }
  return run_attention(c, work, **y);
}

}  // namespace cameo::inline CAMEO_ABI::eps
