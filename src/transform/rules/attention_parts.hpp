#pragma once
#include "transform/rules/attention_mask.hpp"

/// How attention's inputs are written: heads split off and moved, scores scaled and biased, keys joined to the past.
CAMEO_BEGIN_NAMESPACE
namespace look {

bool has_perm(const node_view& transpose, std::initializer_list<std::int64_t> perm);
/// A reshape kept all dims: of the same rank, all but one of them are surely the same, so that one is, too. `is`: what
/// else is known of the dims of `from`.
bool same_but_one(const rewriter&, const value_view& from, const std::vector<dim>& is, const value_view& to);
/// [batch, heads, length, size], or that before its axes 1 and 2 changed places.
struct heads_value {
  value_view v;
  bool rows_first = false;
  axis_of length() const { return {v, rows_first ? 1u : 2u}; }
};

/// Scores before softmax: scale * query * key' + biases. `causal`: what a Where gives that hides scores.
struct score_chain {
  heads_value query, key;
  double scale = 1;
  std::vector<value_view> biases;
  value_view causal;

  bool read(rewriter&, const value_view& scores, int depth = 0);

 private:
  bool read_product(rewriter&, const node_view&);
  value_view without_scale(const rewriter&, value_view);
};

/// Queries, keys or values by their heads, in as few steps from [batch, length, heads * size] as the graph has.
struct head_split {
  value_view whole, rows, flat;  // [batch, heads, length, size]; [batch, length, heads, size]; [batch, length, all]
  dim batch, length;
  std::int64_t heads = 0, size = 0;  // 0: not known

  static head_split of(rewriter&, const heads_value&);
  value_view nearest() const { return flat ? flat : rows ? rows : whole; }
  bool has_rows() const { return bool(flat) || bool(rows); }
  /// As [batch, length, heads * size], and as [batch, heads, length, size].
  value_id joined(edit&) const;
  value_id apart(edit&) const;

 private:
  void find_flat(rewriter&);
};

/// Keys and values that are the past's and those of now, joined along the length.
struct joined_past {
  value_view key, value, new_key, new_value, all_keys, all_values;
  static joined_past of(const rewriter&, const heads_value& key, const value_view& values, std::int64_t heads);
};

/// True if one of `inputs` is reached from one of `from` without going through the node that makes `end`; also when the
/// search gets too long.
bool reaches(const rewriter&, std::vector<value_id> from, const std::vector<value_id>& inputs, const value_view& end);

}  // namespace look
CAMEO_END_NAMESPACE
