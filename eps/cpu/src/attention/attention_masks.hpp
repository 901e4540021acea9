#pragma once
#include "attention_parts.hpp"
#include "attention_scores.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Combines the masks of com.microsoft's attention operators to one bias of scores [batch, heads, S, T], whose first
/// three axes may be 1: an int32 mask of keys (optional), plus a float bias (optional).
status combine_masks(run_context&, const value& mask, const value& bias, float hidden_score, attention_work&);
/// Runs attention with these masks. It writes the scores, too, if the node has their output.
status attend_with_masks(run_context&, const value& mask, const value& bias, float hidden_score, const shown_scores&,
                         attention_work&, const value& y);

}  // namespace CAMEO_NAMESPACE::eps
