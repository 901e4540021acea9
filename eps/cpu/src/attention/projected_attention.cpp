#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "products/products.hpp"

#include "attention_masks.hpp"
#include "operands/usable_sizes.hpp"
#include "projected_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

bool projected_attention::accepts(const bind_context& c) {
  const attributes_of<op::microsoft::Attention> a{c.attributes};
  const bool shares = c.has_input(4) && a.past_present_share_buffer.value_or(0) != 0;
  return !c.has_input(6) && a.do_rotary.value_or(0) == 0 && !shares;
}
result<projected_attention> projected_attention::bind(bind_context& c) {
  const attributes_of<op::microsoft::Attention> a{c.attributes};
  projected_attention made{read(a)};
  const std::span<const std::int64_t> sizes = a.qkv_hidden_sizes;
  if (!sizes.empty() && (sizes.size() != 3 || sizes[0] != sizes[1]))
    return bad_attribute("qkv_hidden_sizes must be three numbers, of which the first two are equal");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    made.sizes[i] = sizes[i];
    if (status s = of_model(check_multiple("qkv_hidden_sizes", sizes[i], made.heads, "num_heads")); !s) return s;
  }
  const value* const w = c.is_constant(1) ? c.inputs[1].constant : nullptr;
  if (!w || w->shape.rank() != 2) return made;
  status kept;
  elements::call(w->type, [&]<class T>(std::type_identity<T>) {
    const result<gemm_panels<T>> packed =
        keep_packed_b<T>(c, 1, false, w->shape[0], w->shape[1], known_rows(c.inputs[0], false));
    if (packed) made.packed = packed->data, made.for_few_rows = packed->for_few_rows;
    else kept = packed.error();
  });
  if (!kept) return kept;
  return made;
}

namespace {

/// Computes Q, K and V of all heads, side by side: x [rows, size] times weights of the same type, plus an optional
/// bias.
template <class T>
status project(run_context& c, const projected_attention& how, const value& x, std::int64_t rows, const value& weights,
               const float* bias, float* all) {
  const std::int64_t width = weights.shape[1];
  const T* const panels = static_cast<const T*>(how.packed);
  const matrix_ref<T> from{weights.as_unchecked<T>().data(), width, 1};
  const auto elements = number_source<float, elements_like<T>>::make(x.as_unchecked<T>().data());
  gemm_problem<float, T> p{rows, width, weights.shape[0], {elements, x.shape[2], 1}, from, panels, all};
  p.for_few_rows = how.for_few_rows;
  if (bias) p.epilogue.bias = bias, p.epilogue.bias_column_stride = 1;
  return multiply(c, p);
}

/// Joins keys and values with those of the past before them in output 1: [2, batch, heads, past + new, size]. The type
/// is that of the output: new rows are rounded first, so that this step computes with the numbers that later steps
/// read.
status join_present(run_context& c, const value& past, std::int64_t before, const head_tensor& k, const head_tensor& v,
                    key_rows& k_all, key_rows& v_all) {
  if (status s = check_count("a row of V", v.at.size, k.at.size); !s) return s;
  const std::int64_t total = before + k.at.length;
  const extents shape{2, k.at.batches, k.at.heads, total, k.at.size};
  const auto past_of = [before](std::int64_t) { return before; };
  const auto join = [&]<class S>(std::type_identity<S>) -> status {
    value* present = nullptr;
    const auto to = output_buffer<S>(c, 1, shape, present);
    if (!to) return to.error();
    const std::int64_t half = shape.count() / 2;
    const past_heads keys{past, before}, values{past, before, past ? past.shape.count() / 2 : 0};
    if (status s = join_rows<S>(c, keys, past_of, k, total, *to); !s) return s;
    if (status s = join_rows<S>(c, values, past_of, v, total, *to + half); !s) return s;
    k_all = {*to, dtype_of<S>, head_layout::split(shape[1], shape[2], shape[3], shape[4])};
    v_all = {*to + half, dtype_of<S>, k_all.at};
    return {};
  };
  status joined;
  const dtype type = past ? past.type : c.output_type(1);
  const bool narrow = narrow_floats::call(type, [&](auto one) { joined = join(one); });
  return narrow ? joined : join(std::type_identity<float>{});
}

}  // namespace

status projected_attention::run(run_context& c) const {
  const value &x = c.input(0), &weights = c.input(1), &bias = c.input(2), &past = c.input(4);
  if (status s = usable_inputs(c, {0, 1}); !s) return s;
  const std::int64_t batches = x.shape[0], length = x.shape[1], width = weights.shape[1];
  const std::int64_t third = sizes[0] ? sizes[0] : width / 3, hidden = sizes[2] ? sizes[2] : width / 3;
  const status checked = check_all({check_count("a row of weights", width, 2 * third + hidden),
                                    check_multiple("the size of Q", third, heads, "num_heads")});
  if (!checked) return checked;
  const result<value*> y = c.output(0, extents{batches, length, hidden});
  if (!y) return y.error();

  const extents shape{batches, length, width};
  const auto all = scratch_of<float>(c, shape);
  const result<const float*> added = wide_vector<float>(c, bias);
  if (!all || !added) return status_code::out_of_memory;
  status projected;
  elements::call(weights.type, [&]<class T>(std::type_identity<T>) {
    projected = project<T>(c, *this, x, batches * length, weights, *added, *all);
  });
  if (!projected) return projected;

  const projected_rows rows{{*all, std::size_t(shape.count())}, batches, length, third, hidden};
  return attend_projected(c, *this, rows, c.input(3), past, c.input(5), **y);
}

status attend_projected(run_context& c, const microsoft_attention& how, const projected_rows& rows, const value& mask,
                        const value& past, const value& bias, const value& y) {
  const std::int64_t batches = rows.batches, length = rows.length, third = rows.third, hidden = rows.hidden;
  const std::int64_t width = rows.width(), heads = how.heads;
  const head_layout q = head_layout::joined(batches, heads, length, third / heads, width);
  key_rows k{rows.all.data() + third, dtype::f32, q};
  key_rows v{rows.all.data() + 2 * third, dtype::f32,
             head_layout::joined(batches, heads, length, hidden / heads, width)};
  std::int64_t before = 0;
  if (past) {
    const extents& s = past.shape;
    if (status fits = check_count("a row of past", s[4], q.size); !fits) return fits;
    if (status usable = usable_sizes("past", s); !usable) return usable;
    before = s[3];
  }
  if (past || c.has_output(1)) {
    const value made = value::tensor<float>({std::int64_t(rows.all.size())}, rows.all);
    if (status joined = join_present(c, past, before, {made, third, k.at}, {made, 2 * third, v.at}, k, v); !joined)
      return joined;
  }
  if (y.shape.count() == 0) return {};
  attention_work work = work_of({rows.all.data(), q}, k, v, k.at.length, how.scale);
  work.causal = how.causal, work.past = before;
  if (status s = combine_masks(c, mask, bias, how.hidden_score, work); !s) return s;
  return run_attention(c, work, y);
}

}  // namespace CAMEO_NAMESPACE::eps
