#pragma once
#include <cameo/graph/views.hpp>

namespace cameo::inline CAMEO_ABI {

/// True for a node whose float16 output reaches another one as float32 (rules/wide_float16.hpp). Until that is done
/// such a node may not be replaced by its result, which would be rounded.
bool result_stays_float32(const node_view&);

// With session.round_float16 each node of the model rounds. What rewrites make then must not round less often.

/// True for a new node of level basic that rounds once where a product and a sum round twice.
bool joins_bias_of_float16(const node_view& made);
/// The same for a new node of a higher level, where fusions join nodes of all kinds.
bool fuses_float16(const node_view& made);

}  // namespace cameo::inline CAMEO_ABI
