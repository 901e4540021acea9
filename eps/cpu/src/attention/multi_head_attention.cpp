#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "attention_masks.hpp"
#include "beams.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Query, key and value as the inputs contain them.
struct query_key_value {
  head_tensor q, k, v;
  bool k_has_bias = true;  // the bias is added to keys and values, except to those of rank 4
};

/// Sets the layouts of query, key and value in the inputs.
status lay_out(const value& q, const value& k, const value& v, std::int64_t heads, query_key_value& out) {
  const extents &qs = q.shape, &ks = k.shape, &vs = v.shape;
  const bool fits = k ? qs.rank() == 3 && (v ? ks.rank() == vs.rank() : ks.rank() == 5) : !v && qs.rank() == 5;
  if (!fits) return bad_input("query ", qs, ", key ", ks, " and value ", vs, " have ranks that don't go together");
  if (!k) {
    out.q.at = {qs[0], heads, qs[1], qs[4], qs.count(1, 5), 3 * qs[4], qs.count(2, 5)};
    out.k.at = out.v.at = out.q.at;
    return {};
  }
  out.q.at = head_layout::joined(qs[0], heads, qs[1], qs[2] / heads, qs[2]);
  if (!v) {
    out.k.at = {ks[0], heads, ks[1], ks[4], ks.count(1, 5), 2 * ks[4], ks.count(2, 5)};
    out.v.at = out.k.at;
  } else if (ks.rank() == 3) {
    out.k.at = head_layout::joined(ks[0], heads, ks[1], ks[2] / heads, ks[2]);
    out.v.at = head_layout::joined(vs[0], heads, vs[1], vs[2] / heads, vs[2]);
  } else {
    out.k.at = head_layout::split(ks[0], heads, ks[2], ks[3]);
    out.v.at = head_layout::split(vs[0], heads, vs[2], vs[3]);
    out.k_has_bias = false;
  }
  return {};
}

/// Reads query, key and value.
status read_parts(const run_context& c, std::int64_t heads, query_key_value& out) {
  const value &q = c.input(0), &k = c.input(1), &v = c.input(2);
  if (status s = lay_out(q, k, v, heads, out); !s) return s;
  if (status s = usable_inputs(c, {0, 1, 2}); !s) return s;
  out.q.tensor = q, out.k.tensor = k ? k : q, out.v.tensor = v ? v : out.k.tensor;
  const std::int64_t size = out.q.at.size;
  out.k.first = k ? 0 : size, out.v.first = !k ? 2 * size : !v ? size : 0;
  return {};
}

/// Reads the past of this run, and sets `rows` to the number of its rows that are used: past_sequence_length if the
/// input is given, else all.
status read_past(const run_context& c, const query_key_value& parts, std::int64_t& rows) {
  const value &past_k = c.input(6), &past_v = c.input(7), &length = c.input(8);
  if (status s = check_together("past_key", bool(past_k), "past_value", bool(past_v)); !s) return s;
  if (!past_k) return {};
  if (status s = check_count("a row of past_value", past_v.shape[3], parts.v.at.size); !s) return s;
  for (const value* past : {&past_k, &past_v})
    if (status s = usable_sizes("the past", past->shape); !s) return s;
  rows = past_k.shape[2];
  if (!length) return {};
  const std::int64_t most = rows - parts.k.at.length;  // the new keys follow
  return check_number("past_sequence_length", rows = integers{length}[0], 0, most);
}

}  // namespace

result<multi_head_attention> multi_head_attention::bind(bind_context& c) {
  return multi_head_attention{read(attributes_of<op::microsoft::MultiHeadAttention>{c.attributes})};
}

status multi_head_attention::run(run_context& c) const {
  const value &bias = c.input(3), &past_k = c.input(6), &past_v = c.input(7);
  query_key_value parts;
  if (status s = read_parts(c, heads, parts); !s) return s;
  const head_layout q = parts.q.at;
  const std::int64_t hidden = parts.v.at.heads * parts.v.at.size;
  const result<value*> y = c.output(0, extents{q.batches, q.length, hidden});
  if (!y) return y.error();
  const std::int64_t width = q.heads * q.size;
  if (status s = check_input("bias", bias, {2 * width + hidden}); !s) return s;
  const result<const float*> added = wide_vector<float>(c, bias);
  if (!added) return added.error();
  const float* const on_keys = parts.k_has_bias ? *added : nullptr;
  std::int64_t rows = 0;
  if (status s = read_past(c, parts, rows); !s) return s;
  const bool has_space = past_k && c.input(8);
  const auto q_wide = wide_heads<float>(c, parts.q, added_bias{*added, q.size});
  if (!q_wide) return q_wide.error();
  const bool joins = joins_keys(c, past_k);
  const added_bias on_k{on_keys ? on_keys + width : nullptr, q.size};
  const added_bias on_v{on_keys ? on_keys + 2 * width : nullptr, parts.v.at.size};
  const auto k = past_and_new(c, parts.k, equal_past{past_k, rows, has_space}, joins, 1, on_k);
  if (!k) return k.error();
  const auto v = past_and_new(c, parts.v, equal_past{past_v, rows, has_space}, joins, 2, on_v);
  if (!v) return v.error();

  attention_work work = work_of(*q_wide, *k, *v, rows + parts.k.at.length, scale);
  work.causal = work.last_sees_all = causal, work.past = rows;
  if (const value& beams = c.input(9); beams && has_space && rows > 0 && q.length == 1)
    if (status s = follow_beams(c, beams, *k, *v, work); !s) return s;
  if (parts.q.tensor.shape.count() == 0 && (*y)->shape.count() == 0) return {};
  const shown_scores shown{3, work.keys, false, std::numeric_limits<float>::lowest()};
  return attend_with_masks(c, c.input(4), c.input(5), hidden_score, shown, work, **y);
}

}  // namespace CAMEO_NAMESPACE::eps
