#include <cameo/eps/cpu/attention.hpp>
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention_parts.hpp"
#include "attention_scores.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_output.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The keys that a query attends to, and what is added to its scores: attn_mask, is_causal, the window and
/// nonpad_kv_seqlen.
struct key_bias {
  std::int64_t keys, past;
  const value *mask, *lengths;  // `none` if the node has no such input
  head_strides at_mask = {};
  std::int64_t mask_length = 0;
  const attention* how;

  static status make(const attention& how, const value& mask, const value& lengths, std::int64_t keys,
                     std::int64_t past, key_bias& out) {
    out = {keys, past, &mask, &lengths, {}, 0, &how};
    if (!mask) return {};
    const extents& s = mask.shape;
    if (status fits = check_number("the last size of attn_mask", s.back(), 0, keys); !fits) return fits;
    if (status fits = usable_sizes("attn_mask", s); !fits) return fits;
    out.at_mask = strides_of_bias(s), out.mask_length = s.back();
    return {};
  }

  /// Sets the softcap and the limits on the keys of each query (is_causal, the window and nonpad_kv_seqlen) in `work`,
  /// whose queries and keys are set.
  status limit(run_context& c, attention_work& work) const {
    work.softcap = float(how->softcap), work.causal = how->causal, work.past = past;
    work.left_window = how->left_window, work.right_window = how->right_window;
    if (!*lengths) return {};
    const auto made = c.scratch<std::int64_t>(std::size_t(lengths->shape.count()));
    if (!made) return made.error();
    for (std::size_t i = 0; i < made->size(); ++i) (*made)[i] = integers{*lengths}[std::int64_t(i)];
    work.lengths = made->data();
    return {};
  }
  /// Sets the limits and the mask in `work`, for the algorithm that does not store scores.
  status apply(run_context& c, attention_work& work) const {
    if (*mask) {
      const auto read = read_bias(c, *mask);
      if (!read) return read.error();
      work.bias = *read, work.bias_keys = mask_length, work.at_bias = at_mask;
    }
    return limit(c, work);
  }

  /// Fills `row` with the bias of one query's scores; false if the query attends to no key.
  template <class C>
  bool fill(const attention_work& work, std::int64_t batch, std::int64_t head, std::int64_t query, C* row) const {
    constexpr C never = -std::numeric_limits<C>::infinity();
    std::int64_t first = 0, last = 0;  // the query may attend to keys in [first, last)
    work.range_of(batch, query, first, last);
    if (*mask) last = std::min(last, mask_length), first = std::min(first, last);
    std::fill(row, row + first, never);
    std::fill(row + last, row + keys, never);
    std::fill(row + first, row + last, C(0));
    const std::int64_t at = batch * at_mask.batch + head * at_mask.head + query * at_mask.row;
    if (*mask) read_mask(*mask, at + first, row + first, last - first);
    for (std::int64_t j = first; j < last; ++j)
      if (row[j] != never) return true;
    return false;
  }
};

/// Converts the scores of one query to weights, in place.
template <class C>
void soft_max(C* x, std::int64_t n) {
  C largest = -std::numeric_limits<C>::infinity();
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, x[i]);
  if (largest == -std::numeric_limits<C>::infinity()) largest = 0;
  C sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - largest);
  if (sum == 0) return;
  for (std::int64_t i = 0; i < n; ++i) x[i] /= sum;
}

/// Converts a row of scores to weights. `shown`, unless null, receives the scores that qk_matmul_output_mode selects.
template <class C>
void weigh_keys(const attention& how, C* row, const C* bias, bool any, std::int64_t keys, C* shown) {
  if (shown && how.shown == attention::raw_scores) std::copy_n(row, keys, shown);
  cap_scores(row, keys, C(how.softcap));
  if (shown && how.shown == attention::capped_scores) std::copy_n(row, keys, shown);
  bias_scores(row, keys, bias);
  if (shown && how.shown == attention::biased_scores) std::copy_n(row, keys, shown);
  if (any) soft_max(row, keys);
  else std::fill(row, row + keys, C(0));
  if (shown && how.shown == attention::weights) std::copy_n(row, keys, shown);
}

/// The operands of one run.
template <class C>
struct attention_call {
  const attention& how;
  key_source<C> q;
  key_rows k, v;  // of the same type: C, float16 or bfloat16
  std::int64_t keys;
  double factor;
  bool joined;  // Y is [batch, sequence, heads * size]
  const key_bias* bias;
  const value& y;
  const value* scores;  // the output of scores; null: the node does not have it
};

status attend_without_scores(run_context& c, const attention_call<float>& all) {
  const geometry::attention_heads& q = all.q.at;
  attention_work work = work_of(all.q, all.k, all.v, all.keys, 0);
  if (!all.joined) work.at_y = strides_of(split_heads(q.batches, q.heads, q.length, all.v.at.size));
  work.scale = float(all.factor);
  if (status s = all.bias->apply(c, work); !s) return s;
  return run_attention(c, work, all.y);
}

/// Converts the scores of heads [first, first + n) to weights, in place.
template <class C>
void weigh_heads(run_context& c, const attention_call<C>& all, const attention_work& limits, std::int64_t first,
                 std::int64_t n, C* scores, C* biases) {
  const geometry::attention_heads& q = all.q.at;
  const std::int64_t keys = all.keys, grain = grain_of(1 << 13, keys);
  parallel_each_row(c, n * q.length, grain, [&](std::int64_t row, std::size_t lane) {
    C *const row_bias = biases + std::int64_t(lane) * 2 * keys, *const shown = all.scores ? row_bias + keys : nullptr;
    const std::int64_t head = first + row / q.length;
    const bool any = all.bias->fill(limits, head / q.heads, head % q.heads, row % q.length, row_bias);
    weigh_keys(all.how, scores + row * keys, row_bias, any, keys, shown);
    if (shown) save_floats(shown, *all.scores, (first * q.length + row) * keys, keys);
  });
}

/// Computes attention with the scores of as many heads at a time as fit in memory. K is the type of keys and values: C,
/// float16 or bfloat16.
template <class K, class C>
status attend_with_scores(run_context& c, const attention_call<C>& all) {
  const geometry::attention_heads &q = all.q.at, &k = all.k.at, &v = all.v.at;
  const std::int64_t heads = q.batches * q.heads, cells = q.length * v.size, plane = q.length * all.keys;
  const std::int64_t at_once = std::clamp<std::int64_t>((std::int64_t{1} << 23) / std::max<std::int64_t>(1, plane), 1,
                                                        std::max<std::int64_t>(1, heads));
  const auto scores = scratch_of<C>(c, {at_once, plane});
  const auto biases = c.scratch<C>(c.lanes() * 2 * std::size_t(all.keys));
  const auto offsets = c.scratch<std::int64_t>(3 * std::size_t(at_once));
  const bool in_place = !all.joined && all.y.type == dtype_of<C>;
  const auto out = c.scratch<C>(in_place ? 0 : std::size_t(at_once * cells));
  if (!scores || !biases || !offsets || !out) return status_code::out_of_memory;
  attention_work limits{};
  limits.queries = q.length, limits.keys = all.keys;
  if (status s = all.bias->limit(c, limits); !s) return s;
  for (std::int64_t first = 0; first < heads; first += at_once) {
    const std::int64_t n = std::min(at_once, heads - first);
    std::int64_t *const q_at = offsets->data(), *const k_at = q_at + at_once, *const v_at = k_at + at_once;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t batch = (first + i) / q.heads, head = (first + i) % q.heads;
      const std::int64_t shared = head / (q.heads / k.heads);
      q_at[i] = q.place(batch, head, 0), k_at[i] = k.place(batch, shared, 0), v_at[i] = v.place(batch, shared, 0);
    }
    const auto length = std::size_t(n);
    const K *const key_data = static_cast<const K*>(all.k.data), *const value_data = static_cast<const K*>(all.v.data);
    gemm_problem<C, K> product{q.length, all.keys, q.size, {all.q.data, q.row_stride, 1}, {key_data, 1, k.row_stride},
                               nullptr,  *scores};
    product.epilogue.alpha = C(all.factor);
    product.a_offsets = {q_at, length}, product.b_offsets = {k_at, length};
    if (status s = multiply(c, product); !s) return s;
    weigh_heads(c, all, limits, first, n, *scores, biases->data());
    C* const to = in_place ? static_cast<C*>(all.y.data) + first * cells : out->data();
    for (std::int64_t i = 0; i < n; ++i) q_at[i] = i * plane;
    gemm_problem<C, K> sum{q.length, v.size, all.keys, {*scores, all.keys, 1}, {value_data, v.row_stride, 1},
                           nullptr,  to};
    sum.a_offsets = {q_at, length}, sum.b_offsets = {v_at, length};
    if (status s = multiply(c, sum); !s) return s;
    if (in_place) continue;
    const auto join = [&](std::int64_t row, std::size_t) {
      const std::int64_t head = first + row / q.length, batch = head / q.heads;
      const std::int64_t place =
          all.joined ? (batch * q.length + row % q.length) * q.heads + head % q.heads : first * q.length + row;
      save_floats(to + row * v.size, all.y, place * v.size, v.size);
    };
    if (!parallel_each(c, n * q.length, grain_of(1 << 15, v.size), join)) return status_code::canceled;
  }
  return {};
}

}  // namespace

result<attention> attention::bind(bind_context& c) {
  const attributes_of<op::Attention> a{c.attributes};
  attention made;
  made.q_heads = a.q_num_heads.value_or(0), made.kv_heads = a.kv_num_heads.value_or(0);
  made.scale = a.scale, made.softcap = double(a.softcap), made.causal = a.is_causal != 0;
  made.left_window = a.left_window_size, made.right_window = a.right_window_size;
  made.shown = int(a.qk_matmul_output_mode);
  made.in_double = c.inputs[0].type == dtype::f64 || c.inputs[2].type == dtype::f64 ||
                   a.softmax_precision == std::int64_t(dtype::f64);
  return made;
}

template <class C>
status attention::run_as(run_context& c) const {
  const value &q_in = c.input(0), &past_k = c.input(4), &past_v = c.input(5);
  if (status s = usable_inputs(c, {0, 1, 2, 4, 5}); !s) return s;
  const result<geometry::attention> z = geometry::attention_of<std::int64_t>(shapes_of(c, 4), q_heads, kv_heads);
  if (!z) return z.error();
  const geometry::attention_heads& q = z->q;
  std::int64_t plane = 0;  // the scores of a head
  if (!checked_multiply(q.length, z->keys, plane)) return status_code::out_of_memory;
  key_bias bias{};
  if (status s = key_bias::make(*this, c.input(3), c.input(6), z->keys, z->past, bias); !s) return s;
  const auto from = wide_heads<C>(c, {q_in, q});
  if (!from) return from.error();
  // 16-bit keys and values are not widened here if both have the same type: the loops read one type for both.
  const bool narrow = std::is_same_v<C, float> && c.input(1).type == c.input(2).type;
  const bool joins = joins_keys(c, past_k);
  const auto k = past_and_new<C>(c, {c.input(1), z->k}, equal_past::all(past_k), joins, 1, unchanged{}, narrow);
  if (!k) return k.error();
  const auto v = past_and_new<C>(c, {c.input(2), z->v}, equal_past::all(past_v), joins, 2, unchanged{}, narrow);
  if (!v) return v.error();

  const result<value*> y = c.output(0, z->y);
  if (!y) return y.error();
  const result<value*> scores = optional_output(c, 3, z->scores);
  if (!scores) return scores.error();
  const std::int64_t cells = q.length * z->v.size;
  if (q.batches == 0 || (plane == 0 && cells == 0)) return {};  // no output has any element
  const double factor = scale ? double(*scale) : usual_scale(q.size);
  const attention_call<C> all{*this, *from, *k, *v, z->keys, factor, z->y.rank() == 3, &bias, **y, *scores};
  if constexpr (std::is_same_v<C, float>) {
    if (!c.has_output(3)) return cells == 0 ? status{} : attend_without_scores(c, all);
    if (k->type == dtype::f16) return attend_with_scores<float16>(c, all);
    if (k->type == dtype::bf16) return attend_with_scores<bfloat16>(c, all);
  }
  return attend_with_scores<C>(c, all);
}

status attention::run(run_context& c) const { return in_double ? run_as<double>(c) : run_as<float>(c); }

}  // namespace CAMEO_NAMESPACE::eps
