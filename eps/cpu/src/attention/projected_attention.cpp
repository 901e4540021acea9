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
  made.widths = a.qkv_hidden_sizes;
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
status join_present(run_context& c, const projected_sizes& z, const value& past, const head_tensor& k,
                    const head_tensor& v, key_rows& k_all, key_rows& v_all) {
  const std::int64_t before = z.past, total = z.keys;
  const extents shape = z.present;
  const auto past_of = [before](std::int64_t) { return before; };
  const auto join = [&]<class S>(std::type_identity<S>) -> status {
    value* present = nullptr;
    const auto to = output_buffer<S>(c, 1, shape, present);
    if (!to) return to.error();
    const std::int64_t half = shape.count() / 2;
    const past_heads keys{past, before}, values{past, before, past ? past.shape.count() / 2 : 0};
    if (status s = join_rows<S>(c, keys, past_of, k, total, *to); !s) return s;
    if (status s = join_rows<S>(c, values, past_of, v, total, *to + half); !s) return s;
    k_all = {*to, dtype_of<S>, split_heads(shape[1], shape[2], shape[3], shape[4])};
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
  if (status s = usable_inputs(c, {0, 1, 4}); !s) return s;
  const result<projected_sizes> z = geometry::projected_attention_of<std::int64_t>(
      x.shape, weights.shape, heads, widths, geometry::shape_of(past), bool(past), past || c.has_output(1));
  if (!z) return z.error();
  const result<value*> y = c.output(0, z->y);
  if (!y) return y.error();

  const extents shape{z->batches, z->length, weights.shape[1]};
  const auto all = scratch_of<float>(c, shape);
  const result<const float*> added = wide_vector<float>(c, bias);
  if (!all || !added) return status_code::out_of_memory;
  status projected;
  elements::call(weights.type, [&]<class T>(std::type_identity<T>) {
    projected = project<T>(c, *this, x, z->batches * z->length, weights, *added, *all);
  });
  if (!projected) return projected;
  return attend_projected(c, *this, *z, {*all, std::size_t(shape.count())}, c.input(3), past, c.input(5), **y);
}

status attend_projected(run_context& c, const microsoft_attention& how, const projected_sizes& z,
                        std::span<const float> rows, const value& mask, const value& past, const value& bias,
                        const value& y) {
  const std::int64_t third = z.query_width, width = 2 * third + z.value_width;
  const auto part = [&](std::int64_t all, std::int64_t first) {
    return joined_heads(z.batches, how.heads, z.length, all / how.heads, width, first);
  };
  const geometry::attention_heads q = part(third, 0), of_k = part(third, third), of_v = part(z.value_width, 2 * third);
  key_rows k{rows.data() + third, dtype::f32, of_k}, v{rows.data() + 2 * third, dtype::f32, of_v};
  if (past || c.has_output(1)) {
    const value made = value::tensor<float>({std::int64_t(rows.size())}, rows);
    if (status joined = join_present(c, z, past, {made, of_k}, {made, of_v}, k, v); !joined) return joined;
  }
  if (y.shape.count() == 0) return {};
  attention_work work = work_of({rows.data(), q}, k, v, z.keys, how.scale);
  work.causal = how.causal, work.past = z.past;
  if (status s = combine_masks(c, mask, bias, how.hidden_score, work); !s) return s;
  return run_attention(c, work, y);
}

}  // namespace CAMEO_NAMESPACE::eps
