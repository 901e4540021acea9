#pragma once
#include "attention_parts.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The masks of com.microsoft's attention operators, as one bias on scores [batch, heads, S, T], of which axes may be
/// 1 and then are not there: what a mask of int32 says (null or `none`: nothing), plus a bias of floats.
status combine_masks(run_context&, const value& mask, const value& bias, float hidden_score, attention_work&);

}  // namespace CAMEO_NAMESPACE::eps
