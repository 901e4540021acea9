#pragma once
#include "transform/rules/attention_mask.hpp"

/// How models write the inputs of attention: heads are split and moved, scores scaled and biased, keys joined to the
/// past.
namespace CAMEO_NAMESPACE::look {

bool has_perm(const node_view& transpose, std::initializer_list<std::int64_t> perm);
/// True if a reshape kept all dims: it keeps the rank, and all dims but one are certainly equal, so that the last one
/// is, too. `known` are the dims of `source` as far as they are known otherwise.
bool same_but_one(const rewriter&, const value_view& source, const std::vector<dim>& known, const value_view& result);
/// A value [batch, heads, length, size], or [batch, length, heads, size].
struct heads_value {
  value_view v;
  bool rows_first = false;
  axis_of length() const { return {v, rows_first ? 1u : 2u}; }
};

/// Scores before softmax: scale * query * key' + biases. `causal` is the other operand of a Where that hides scores.
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

/// Queries, keys or values with split heads, in as few steps from [batch, length, heads * size] as the graph has.
struct head_split {
  value_view whole, rows, flat;  // [batch, heads, length, size]; [batch, length, heads, size]; [batch, length, all]
  dim batch, length;
  std::int64_t heads = 0, size = 0;  // 0: unknown

  static head_split read(rewriter&, const heads_value&);
  value_view nearest() const { return flat ? flat : rows ? rows : whole; }
  bool has_rows() const { return bool(flat) || bool(rows); }
  /// Adds nodes for [batch, length, heads * size], or for [batch, heads, length, size].
  value_id joined(edit&) const;
  value_id apart(edit&) const;

 private:
  void find_flat(rewriter&);
};

/// Keys and values of the past and new ones, joined along the length.
struct joined_past {
  value_view key, value, new_key, new_value, all_keys, all_values;
  static joined_past read(const rewriter&, const heads_value& key, const value_view& values, std::int64_t heads);
};

/// True if a path leads from one of `from` to one of `inputs` without passing the node that makes `end`, and also if
/// the search takes too long.
bool reaches(const rewriter&, std::vector<value_id> from, const std::vector<value_id>& inputs, const value_view& end);

}  // namespace CAMEO_NAMESPACE::look
