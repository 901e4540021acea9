// Replaces Softmax(Q K' * scale + bias) V, and what exporters put around it, by com.microsoft's MultiHeadAttention. For
// a query whose keys are all hidden by finite scores (a padded one), the mean of the values may then differ.
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/transform.hpp>

#include <algorithm>

#include "transform/rules/attention_mask.hpp"
#include "transform/rules/attention_parts.hpp"

namespace CAMEO_NAMESPACE {
namespace {

using namespace look;

/// The core of an attention: the nodes from queries, keys and values to the result.
struct attention_core {
  value_view probabilities, result;  // result [batch, heads, S, size]
  score_chain scores;
  value_view values;     // [batch, heads, T, size]
  bool guarded = false;  // the result is 0 where all keys are hidden

  static std::optional<attention_core> read(rewriter& r, const node_view& softmax) {
    const std::int64_t axis = softmax.attributes<op::Softmax>().axis.value_or(softmax.since() < 13 ? 1 : -1);
    if ((axis != -1 && axis != 3) || !is_float(softmax.input(0))) return {};
    attention_core core;
    core.probabilities = without_nan_guard(r, softmax.output(0));
    core.guarded = !(core.probabilities == softmax.output(0));
    const node_view product = only_reader<op::MatMul, op::microsoft::FusedMatMul>(r, core.probabilities);
    if (!product || !(product.input(0) == core.probabilities) || !is_plain_product(product)) return {};
    core.values = product.input(1), core.result = product.output(0);
    if (!core.scores.read(r, softmax.input(0)) || core.scores.scale == 0) return {};
    return core;
  }

 private:
  /// Removes Where(IsNaN(p), 0, p), which replaces NaN by 0.
  static value_view without_nan_guard(const rewriter& r, const value_view& p) {
    if (p.is_graph_output() || p.use_count() != 2) return p;
    for (node_view reader : p.consumers()) {
      if (!reader.has_op<op::IsNaN>()) continue;
      const node_view where = only_reader<op::Where>(r, reader.output(0));
      if (where && where.input(0) == reader.output(0) && where.input(2) == p && number_in(r, where.input(1)) == 0.0)
        return where.output(0);
    }
    return p;
  }
  static bool is_plain_product(const node_view& n) {
    const auto a = n.attributes<op::microsoft::FusedMatMul>();
    return a.alpha == 1 && !a.transA && !a.transB && !a.transBatchA && !a.transBatchB;
  }
};

/// The end of an attention: the heads joined again, [batch, S, heads * size].
struct attention_end {
  value_view merged;               // the fused node's output; none: there is only `transposed`
  value_view transposed;           // [batch, S, heads, size]
  std::vector<value_view> shapes;  // shapes of [batch, heads, S, size]

  static attention_end read(rewriter& r, const value_view& result, const head_split& q, const head_split& v) {
    attention_end end;
    node_view next = end.reader_of(r, result);
    if (next && next.has_op<op::Reshape>()) {
      const std::vector<dim> is{q.batch, dim::fixed(q.heads), q.length, dim::fixed(v.size)};
      if (!same_but_one(r, result, is, next.output(0))) return {};
      next = only_reader<op::Transpose>(r, next.output(0));
    }
    if (!next || !next.has_op<op::Transpose>() || !has_perm(next, {0, 2, 1, 3})) return {};
    end.transposed = next.output(0);
    const node_view merge = only_reader<op::Reshape>(r, end.transposed);
    const std::vector<dim>*const from = r.shape(end.transposed), *const to = merge ? r.shape(merge.output(0)) : nullptr;
    if (!from || !to || to->size() != 3) return end;
    const bool is_batch = (*to)[0].same(q.batch) || (*to)[0].same((*from)[0]);
    const bool is_length = (*to)[1].same(q.length) || (*to)[1].same((*from)[1]);
    const bool is_hidden = (*to)[2].same(dim::fixed(q.heads * v.size));
    if (is_batch + is_length + is_hidden >= 2) end.merged = merge.output(0);
    return end;
  }

 private:
  /// The only reader of the result apart from Shape nodes, which are collected in `shapes`.
  node_view reader_of(const rewriter& r, const value_view& result) {
    constexpr std::size_t few = 8;
    node_view found;
    if (result.is_graph_output() || result.use_count() > few) return {};
    for (node_view n : result.consumers()) {
      if (!r.may_touch(n)) return {};
      if (is_whole_shape(n)) shapes.push_back(n.output(0));
      else if (found) return {};
      else found = n;
    }
    return found;
  }
};

class multi_head_builder {
 public:
  multi_head_builder(rewriter& r, const attention_core& core, const node_view& origin)
      : r_{r}, core_{core}, edit_{r, origin} {}

  bool build() {
    head_split q = head_split::read(r_, core_.scores.query);
    const head_split k = head_split::read(r_, core_.scores.key), v = head_split::read(r_, {core_.values, false});
    if (const std::vector<dim>* const shape = r_.shape(core_.result); shape && shape->size() == 4) {
      if (!q.heads && (*shape)[1].known()) q.heads = (*shape)[1].size;
      one_batch_ = (*shape)[0].known() && (*shape)[0].size == 1;
    }
    if (!q.heads || !q.size || !fits(q, k) || !fits_values(q, v)) return false;
    const attention_end end = attention_end::read(r_, core_.result, q, v);
    causal_ = core_.scores.causal &&
              is_causal(r_, core_.scores.causal.producer(), core_.scores.query.length(), core_.scores.key.length());
    past_ = joined_past::read(r_, core_.scores.key, core_.values, q.heads);
    if (past_.key && reaches_itself(q)) past_ = {};
    query_ = q.joined(edit_);
    if (!set_keys(q, k, v) || !set_masks(q.batch, q.length, k.length)) return false;
    const value_id made = guarded(add_node(q.heads));
    replace_end(end, made, q.heads, v.size);
    return edit_.commit();
  }

 private:
  bool fits(const head_split& q, const head_split& k) const {
    return k.heads == q.heads && k.size == q.size && same_batch(q.batch, k.batch);
  }
  bool fits_values(const head_split& q, const head_split& v) const {
    return v.heads == q.heads && v.size > 0 && same_batch(q.batch, v.batch);
  }
  /// Products broadcast a batch of 1, and the fused operator does not. If the result's batch is 1, all batches are.
  bool same_batch(dim a, dim b) const {
    const auto one = [](dim d) { return d.known() && d.size == 1; };
    return a.known() && b.known() ? a.size == b.size : one_batch_ || one(a) == one(b);
  }

  /// True if an input of the new node would depend on its output. Then the past is left out of it.
  bool reaches_itself(const head_split& q) const {
    std::vector<value_id> inputs{q.nearest().id(), past_.key.id(), past_.value.id(), past_.new_key.id(),
                                 past_.new_value.id()};
    for (const value_view& bias : core_.scores.biases) inputs.push_back(bias.id());
    if (core_.scores.causal && !causal_) inputs.push_back(core_.scores.causal.producer().input(0).id());
    return reaches(r_, {past_.all_keys.id(), past_.all_values.id()}, inputs, core_.result);
  }

  /// ONNX Runtime takes values with another size than the keys only as rows, and without a past.
  bool set_keys(const head_split& q, const head_split& k, const head_split& v) {
    const bool sizes_differ = k.size != v.size;
    if (sizes_differ) past_ = {};
    if (past_.key) {
      const head_split nk = head_split::read(r_, {past_.new_key, false}),
                       nv = head_split::read(r_, {past_.new_value, false});
      if (nk.heads == q.heads && nv.heads == q.heads && nk.size == q.size && nv.size == v.size) {
        key_ = nk.joined(edit_), value_ = nv.joined(edit_);
        return true;
      }
      past_ = {};
    }
    if (sizes_differ || (k.has_rows() && v.has_rows())) key_ = k.joined(edit_), value_ = v.joined(edit_);
    else key_ = k.apart(edit_), value_ = v.apart(edit_);
    return true;
  }

  bool set_masks(dim batch, dim queries, dim total) {
    value_id bias = value_id::none;
    const std::vector<dim>* shape = nullptr;
    if (core_.scores.causal && !causal_) {
      const node_view where = core_.scores.causal.producer();
      bias = bias_of_where(r_, edit_, where);
      shape = r_.shape(where.input(0));
    }
    for (const value_view& each : core_.scores.biases) {
      if (padding_mask found = padding_mask::read(r_, each, batch, total); found.mask && padding_ == value_id::none) {
        padding_ = found.as_int32(r_, edit_), hidden_score_ = found.hidden_score;
        continue;
      }
      const bool first = bias == value_id::none;
      bias = first ? each.id() : edit_.add<op::Add>({bias, each.id()});
      shape = first ? r_.shape(each) : nullptr;
    }
    if (bias == value_id::none) return true;
    bias_ = legal_bias(edit_, bias, shape, queries, total, query_);
    return bias_ != value_id::none;
  }

  value_id add_node(std::int64_t heads) {
    std::vector<attribute> attributes{attribute_of("num_heads", heads),
                                      attribute_of("scale", float(core_.scores.scale))};
    if (causal_) attributes.push_back(attribute_of("unidirectional", 1));
    if (padding_ != value_id::none) attributes.push_back(attribute_of("mask_filter_value", hidden_score_));
    const value_id inputs[] = {query_, key_, value_, value_id::none, padding_, bias_, past_.key.id(), past_.value.id()};
    const value_id made = edit_.add<op::microsoft::MultiHeadAttention>(inputs, attributes, past_.key ? 3 : 1);
    if (past_.key) edit_.replace(past_.all_keys, edit_.output(1)), edit_.replace(past_.all_values, edit_.output(2));
    return made;
  }

  /// ONNX Runtime returns NaN for a query whose keys are all hidden by -infinity, which would spread to the next layer.
  value_id guarded(value_id made) {
    const auto is_finite = [&](const value_view& bias) {
      const node_view where = made_by<op::Where>(r_, bias);
      const auto seen = where ? number_in(r_, where.input(1)) : std::nullopt;
      const auto hidden = where ? number_in(r_, where.input(2)) : std::nullopt;
      return seen && hidden && std::isfinite(*seen) && std::isfinite(*hidden);
    };
    const std::vector<value_view>& biases = core_.scores.biases;
    bool finite = std::all_of(biases.begin(), biases.end(), is_finite);
    if (core_.scores.causal && !causal_) {
      const node_view where = core_.scores.causal.producer();
      const auto hidden = number_in(r_, where.input(number_in(r_, where.input(2)) ? 2 : 1));
      finite = finite && hidden && std::isfinite(*hidden);
    }
    if (!core_.guarded || bias_ == value_id::none || finite) return made;
    const dtype type = core_.result.element();
    return edit_.add<op::Where>({edit_.add<op::IsNaN>({made}), edit_.scalar("nothing", type, 0), made});
  }

  void replace_end(const attention_end& end, value_id made, std::int64_t heads, std::int64_t size) {
    if (end.transposed)
      for (const value_view& shape : end.shapes) edit_.replace(shape, shape_of_result(heads, size));
    if (end.merged) return edit_.replace(end.merged, made);
    const std::int64_t target[] = {0, 0, heads, size}, moved[] = {0, 2, 1, 3};
    const value_id rows = edit_.add<op::Reshape>({made, edit_.ints("heads", target)});
    if (end.transposed) edit_.replace(end.transposed, rows);
    else edit_.replace(core_.result, edit_.add<op::Transpose>({rows}, {attribute_of("perm", moved)}));
  }

  value_id shape_of_result(std::int64_t heads, std::int64_t size) {
    const value_id shape = edit_.add<op::Shape>({query_});
    const auto one = [&](std::int64_t number) { return edit_.ints("part", {&number, 1}); };
    const value_id batch = edit_.add<op::Gather>({shape, one(0)}), length = edit_.add<op::Gather>({shape, one(1)});
    return edit_.add<op::Concat>({batch, one(heads), length, one(size)}, {attribute_of("axis", 0)});
  }

  rewriter& r_;
  const attention_core& core_;
  edit edit_;
  joined_past past_;
  value_id query_ = value_id::none, key_ = value_id::none, value_ = value_id::none;
  value_id padding_ = value_id::none, bias_ = value_id::none;
  float hidden_score_ = 0;
  bool causal_ = false, one_batch_ = false;
};

struct fuse_attention {
  static constexpr std::string_view name = "AttentionFusion";
  using roots = op_set<op::Softmax>;
  using makes = op_set<op::microsoft::MultiHeadAttention, op::Add, op::Cast, op::Concat, op::Expand, op::Gather,
                       op::IsNaN, op::Reshape, op::Shape, op::Transpose, op::Where>;
  using needs = op_set<op::MatMul>;
  static bool rewrite(rewriter& r, const node_view& root) {
    const std::optional<attention_core> core = attention_core::read(r, root);
    return core && multi_head_builder{r, *core, core->result.producer()}.build();
  }
};

/// Removes transposes of heads around ONNX's Attention, which also takes [batch, length, heads * size].
struct join_heads {
  static constexpr std::string_view name = "AttentionHeadsFusion";
  using roots = op_set<op::Attention>;
  using makes = op_set<op::Transpose, op::Reshape>;
  static bool rewrite(rewriter& r, const node_view& root) {
    if (has_further_outputs(root)) return false;
    head_split parts[3];
    for (std::size_t i = 0; i < 3; ++i) {
      if (!has_rank(r, root.input(i), 4)) return false;
      parts[i] = head_split::read(r, {root.input(i), false});
      if (!parts[i].has_rows() || parts[i].heads <= 0 || parts[i].size <= 0) return false;
    }
    if (parts[1].heads != parts[2].heads || parts[0].heads % parts[1].heads != 0) return false;
    const attention_end end = attention_end::read(r, root.output(0), parts[0], parts[2]);
    if (!end.merged || !end.shapes.empty()) return false;
    edit e{r, root};
    std::vector<value_id> inputs;
    for (value_view v : root.inputs()) inputs.push_back(v.id());
    for (std::size_t i = 0; i < 3; ++i) inputs[i] = parts[i].joined(e);
    std::vector<attribute> attributes{attribute_of("q_num_heads", parts[0].heads),
                                      attribute_of("kv_num_heads", parts[1].heads)};
    for (const attribute& a : root.raw().attributes)
      if (a.name != "q_num_heads" && a.name != "kv_num_heads") attributes.push_back(a);
    e.replace(end.merged, e.add<op::Attention>(inputs, attributes));
    return e.commit();
  }
};

}  // namespace

const transform_table& rules::attention_fusion::table() {
  return transform_list<optimization_level::extended, fuse_attention, join_heads>::table();
}

}  // namespace CAMEO_NAMESPACE
