#pragma once
#include "transform/rules/look.hpp"

/// Masks that hide keys from queries: as exporters write them, and as com.microsoft's operators take them.
namespace CAMEO_NAMESPACE::look {

/// (1 - mask) * hidden_score with an integer mask [batch, T] of zeros and ones, as [batch, 1, 1, T].
struct padding_mask {
  value_view mask;
  float hidden_score = 0;
  static padding_mask read(const rewriter&, const value_view& bias, dim batch, dim keys);
  value_id as_int32(const rewriter&, edit&) const;
};

/// An axis of a value.
struct axis_of {
  value_view value;
  std::size_t axis = 0;
};

/// True for Where(lower triangle, scores, hidden), where query i of `queries` uses key j of `keys` if j <= i + keys -
/// queries. The triangle is a constant, whose rows and columns one or two Slices select.
bool is_causal(rewriter&, const node_view& where, const axis_of& queries, const axis_of& keys);

/// A bias that does the same as the Where: 0 where it selects the scores.
value_id bias_of_where(rewriter&, edit&, const node_view& where);

/// Makes a bias [1 or batch, 1 or heads, queries, keys] from one that broadcasts to it; `none` if it would certainly
/// have to be repeated for each key. `query` is [batch, queries, ...].
value_id legal_bias(edit&, value_id bias, const std::vector<dim>* shape, dim queries, dim keys, value_id query);

}  // namespace CAMEO_NAMESPACE::look
