#include <cameo/eps/cpu/group_query_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "attention_scores.hpp"
#include "group_parts.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr bool has_codes(dtype type) { return type == dtype::i8 || type == dtype::u8 || type == dtype::f8e4m3fn; }

/// Checks that the caches have the types that the attributes define.
status check_codes(const value& past_k, const value& past_v, const group_query_attention& how) {
  if (!past_k) return {};
  const bool fits = how.code_bits == 0   ? !has_codes(past_k.type)
                    : how.code_bits == 4 ? past_k.type == dtype::u8
                                         : past_k.type == dtype::i8 || past_k.type == dtype::f8e4m3fn;
  if (fits) return check_type("past_value", past_v.type, past_k.type);
  return bad_input("past_key has elements of ", past_k.type, ", which kv_cache_bit_width ", how.code_bits,
                   " contradicts");
}

status check_lengths(const group_sizes& s, std::int64_t given) {
  const std::int64_t with_past = s.window ? given : std::min(s.total - s.length, s.past) + s.length;
  const std::int64_t least = s.first ? 1 : s.length, most = s.first ? s.length : with_past;
  for (std::int64_t b = 0; b < s.batches; ++b)
    if (status fits = check_element("seqlens_k", s.lengths[b], least - 1, most - 1); !fits) return fits;
  return {};
}

status read_sizes(run_context& c, const group_query_attention& how, group_sizes& s) {
  const value& lengths = c.input(5);
  const std::int64_t window = how.forgets ? how.window : 0, given = *static_cast<const std::int32_t*>(c.input(6).data);
  if (status read = read_group_sizes(c, {how.heads, how.key_heads, window, how.code_bits}, given, s); !read)
    return read;
  const status checked =
      check_all({check_count("seqlens_k", lengths.shape.count(), s.batches), check_codes(c.input(3), c.input(4), how),
                 usable_sizes("present_key", {s.batches, how.key_heads, s.total, s.size})});
  if (!checked) return checked;
  s.lengths = static_cast<const std::int32_t*>(lengths.data);
  return check_lengths(s, given);
}

/// Returns attention_bias for a cache that has dropped its oldest rows. The last axis of attention_bias has all
/// positions of a sequence; that of the result has the rows of the cache, with -infinity for rows after the bias ends.
result<const float*> bias_of_window(run_context& c, const group_sizes& s, const value& bias) {
  const extents& b = bias.shape;
  const extents shape{s.batches, b[1], s.length, s.total};
  const auto made = scratch_of<float>(c, shape);
  if (!made) return made.error();
  parallel_each(c, shape.count() / std::max<std::int64_t>(1, s.total), 1 + (1 << 14) / (1 + s.total),
                [&](std::int64_t r, std::size_t) {
                  const std::int64_t batch = r / s.length / b[1];
                  const std::int64_t row = b[0] == 1 ? r % (b[1] * s.length) : r;
                  const std::int64_t first = std::min(s.past_of(batch) - s.rows_before(batch), b[3]);
                  const std::int64_t n = std::min(s.total, b[3] - first);
                  float* const to = *made + r * s.total;
                  load_floats(bias, row * b[3] + first, to, n);
                  std::fill(to + n, to + s.total, -std::numeric_limits<float>::infinity());
                });
  return static_cast<const float*>(*made);
}

status read_group_bias(run_context& c, const group_sizes& s, const value& bias, attention_work& work) {
  const extents& b = bias.shape;
  const bool shifts = s.window > 0 && !s.first;
  const auto read = shifts ? bias_of_window(c, s, bias) : wide_scores(c, bias);
  if (!read) return read.error();
  const extents shape = shifts ? extents{s.batches, b[1], s.length, s.total} : b;
  work.bias = *read, work.bias_keys = shape[3], work.at_bias = strides_of_bias(shape);
  return {};
}

/// Returns the score of the attention sink of each head: head_sink, or zeros; null if there is no sink. A sink takes
/// part in the softmax and has no value.
result<const float*> read_sinks(run_context& c, const group_query_attention& how, const value& sink) {
  if (sink || !how.smooth) return wide_vector<float>(c, sink);
  const auto zeros = c.scratch<float>(std::size_t(how.heads));
  if (!zeros) return zeros.error();
  std::fill(zeros->begin(), zeros->end(), 0.0f);
  return static_cast<const float*>(zeros->data());
}

/// Reads the weights that queries and keys are normalized with, if there are any.
status read_norms(run_context& c, const group_sizes& s, float epsilon, group_changes& out) {
  const value &q = c.input(14), &k = c.input(15);
  if (status both = check_together("q_norm_weight", bool(q), "k_norm_weight", bool(k)); !both) return both;
  if (!q) return {};
  if (status fits = check_shape("q_norm_weight", q.shape, {s.size}); !fits) return fits;
  const auto of_q = wide_vector<float>(c, q), of_k = wide_vector<float>(c, k);
  if (!of_q || !of_k) return status_code::out_of_memory;
  out.q.weights = *of_q, out.k.weights = *of_k;
  out.q.epsilon = out.k.epsilon = epsilon;
  return {};
}

/// Reads the scales of quantized caches.
status read_scales(run_context& c, const group_query_attention& how, const group_sizes& s, group_scales& out) {
  const auto k = channel_scales(c, c.input(12), "k_scale", how.per_channel, how.key_heads, s.size);
  if (!k) return k.error();
  const auto v = channel_scales(c, c.input(13), "v_scale", how.per_channel, how.key_heads, s.size);
  if (!v) return v.error();
  out = {*k, *v};
  return {};
}

}  // namespace

result<group_query_attention> group_query_attention::bind(bind_context& c) {
  const attributes_of<op::microsoft::GroupQueryAttention> a{c.attributes};
  using quantized = op::cache_quant_type_choice;
  group_query_attention made{a.num_heads, a.kv_num_heads, a.local_window_size, a.scale.value_or(0)};
  made.softcap = a.softcap.value_or(0), made.epsilon = a.qk_norm_epsilon;
  made.code_bits = int(a.kv_cache_bit_width.value_or(0)), made.shown = int(a.qk_output);
  made.rotates = a.do_rotary.value_or(0) != 0, made.interleaved = a.rotary_interleaved.value_or(0) != 0;
  made.smooth = a.smooth_softmax > 0, made.causal = a.causal != 0, made.forgets = a.sliding_window_cache != 0;
  made.per_channel = a.k_quant_type == quantized::per_channel;
  if (a.k_quant_type != a.v_quant_type) return bad_attribute("k_quant_type and v_quant_type must be equal");
  const status checked = check_all(
      {check_needs("local_window_size", made.window != -1, "causal", made.causal),
       check_needs("sliding_window_cache", made.forgets, "local_window_size", made.window >= 1),
       check_needs("qk_output", made.shown != 0, "sliding_window_cache 0", !made.forgets),
       check_together("qk_output", made.shown != 0, "the output output_qk", c.has_output(3)),
       check_together("k_quant_type", a.k_quant_type != quantized::none, "kv_cache_bit_width", made.code_bits != 0)});
  if (!checked) return of_model(checked);
  return made;
}

status group_query_attention::run(run_context& c) const {
  group_sizes s{};
  if (status read = read_sizes(c, *this, s); !read) return read;
  const result<value*> y = c.output(0, s.at.y);
  if (!y) return y.error();
  rotation angles{s};
  angles.interleaved = interleaved;
  group_changes changes{};
  const status rotated = rotates ? read_rotation(c, s, c.input(7), c.input(8), c.input(9), angles, changes) : status{};
  if (!rotated) return rotated;
  changes.q.size = changes.k.size = s.size;
  if (status read = read_norms(c, s, epsilon, changes); !read) return read;
  group_scales scales{};
  if (status read = code_bits ? read_scales(c, *this, s, scales) : status{}; !read) return read;
  const result<group_rows> rows = read_group(c, s, changes, scales);
  if (!rows) return rows.error();

  attention_work work = work_of(rows->q, rows->k, rows->v, s.total, scale);
  work.softcap = softcap, work.causal = causal;
  work.key_scales = scales.k, work.value_scales = scales.v;
  if (window > 0) work.left_window = window - 1;
  const auto lengths = c.scratch<std::int64_t>(std::size_t(s.batches));
  if (!lengths) return lengths.error();
  for (std::int64_t b = 0; b < s.batches; ++b) (*lengths)[std::size_t(b)] = s.joined_rows(b);
  work.lengths = lengths->data(), work.is_padded = s.first;
  if (const value& bias = c.input(10))
    if (status read = read_group_bias(c, s, bias, work); !read) return read;
  const auto sinks = read_sinks(c, *this, c.input(11));
  if (!sinks) return sinks.error();
  work.sinks = *sinks;
  if (shown)
    if (status written = write_scores(c, work, {3, s.at.scores[3], shown == 2}); !written) return written;
  return (*y)->shape.count() == 0 ? status{} : run_attention(c, work, **y);
}

}  // namespace CAMEO_NAMESPACE::eps
