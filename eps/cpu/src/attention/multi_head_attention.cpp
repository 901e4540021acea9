#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "attention_masks.hpp"
#include "beams.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
result<multi_head_attention> multi_head_attention::bind(bind_context& c) {
  return multi_head_attention{read(attributes_of<op::microsoft::MultiHeadAttention>{c.attributes})};
}

status multi_head_attention::run(run_context& c) const {
  const value &bias = c.input(3), &past_k = c.input(6), &past_v = c.input(7), &length = c.input(8);
  if (status s = usable_inputs(c, {0, 1, 2, 6, 7}); !s) return s;
  geometry::attention_inputs in = shapes_of(c, 6);
  in.bias = geometry::shape_of(bias), in.has_past_length = bool(length);
  if (length) in.past_length = integers{length}[0];
  const result<geometry::attention> z = geometry::multi_head_attention_of<std::int64_t>(in, heads);
  if (!z) return z.error();
  const geometry::attention_heads& q = z->q;
  const head_tensor queries{c.input(0), q}, keys{in.has_key ? c.input(1) : queries.tensor, z->k};
  const head_tensor values{in.has_value ? c.input(2) : keys.tensor, z->v};
  const result<value*> y = c.output(0, z->y);
  if (!y) return y.error();
  const result<const float*> added = wide_vector<float>(c, bias);
  if (!added) return added.error();
  const std::int64_t width = q.heads * q.size;
  const bool adds = *added && !(in.has_key && in.key.rank() == 4);  // to keys and values, except to those of rank 4
  const bool has_space = past_k && length, joins = joins_keys(c, past_k);
  const auto q_wide = wide_heads<float>(c, queries, added_bias{*added, q.size});
  if (!q_wide) return q_wide.error();
  const added_bias on_k{adds ? *added + width : nullptr, q.size};
  const added_bias on_v{adds ? *added + 2 * width : nullptr, z->v.size};
  const auto k = past_and_new(c, keys, equal_past{past_k, z->past, has_space}, joins, 1, on_k);
  if (!k) return k.error();
  const auto v = past_and_new(c, values, equal_past{past_v, z->past, has_space}, joins, 2, on_v);
  if (!v) return v.error();

  attention_work work = work_of(*q_wide, *k, *v, z->keys, scale);
  work.causal = work.last_sees_all = causal, work.past = z->past;
  if (const value& beams = c.input(9); beams && has_space && z->past > 0 && q.length == 1)
    if (status s = follow_beams(c, beams, *k, *v, work); !s) return s;
  if (queries.tensor.shape.count() == 0 && (*y)->shape.count() == 0) return {};
  const shown_scores shown{3, work.keys, false, std::numeric_limits<float>::lowest()};
  return attend_with_masks(c, c.input(4), c.input(5), hidden_score, shown, work, **y);
}

}  // namespace CAMEO_NAMESPACE::eps
