#pragma once
#include "transform/rules/look.hpp"

/// What hides keys from queries, in the forms that exporters write and in those that com.microsoft's operators take.
CAMEO_BEGIN_NAMESPACE
namespace look {

/// (1 - mask) * hidden_score with an integer mask [batch, T] of zeros and ones, as [batch, 1, 1, T].
struct padding_mask {
  value_view mask;
  float hidden_score = 0;
  static padding_mask of(const rewriter&, const value_view& bias, dim batch, dim keys);
  value_id as_int32(const rewriter&, edit&) const;
};

/// The size of one axis of a value.
struct axis_of {
  value_view value;
  std::size_t axis = 0;
};

/// Where(lower triangle, scores, hidden): query i of `queries` sees key j of `keys` if j <= i + keys - queries. The
/// triangle is a constant of which a Slice or two take rows and columns.
bool is_causal(rewriter&, const node_view& where, const axis_of& queries, const axis_of& keys);

/// The Where without its scores: 0 where they are seen.
value_id bias_of_where(rewriter&, edit&, const node_view& where);

/// A bias [1 or batch, 1 or heads, queries, keys] from one that broadcasts to it; `none` if it surely would have to be
/// repeated for each key. `query` is [batch, queries, ...].
value_id legal_bias(edit&, value_id bias, const std::vector<dim>* shape, dim queries, dim keys, value_id query);

}  // namespace look
CAMEO_END_NAMESPACE
