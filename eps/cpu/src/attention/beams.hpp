#pragma once
#include "attention_parts.hpp"

// Beam search in the attention operators of com.microsoft. A beam continues another beam without a copy of
// its cache; cache_indirection contains, for each position, the beam whose cache has it.
namespace CAMEO_NAMESPACE::eps {

/// Replaces the keys and values of the work, which are these rows [batches, heads, capacity, size], by copies in
/// scratch: the positions of the past, each from the beam that cache_indirection contains, and the new positions.
/// INVALID_ARGUMENT if the shape of cache_indirection does not fit, or it contains a beam that does not exist.
status follow_beams(run_context&, const value& beams, const key_rows& k, const key_rows& v, attention_work&);

}  // namespace CAMEO_NAMESPACE::eps
