#pragma once
#include "attention_parts.hpp"

// What the attention operators of com.microsoft share for searches with beams: a beam goes on from another one without
// its cache being copied, and cache_indirection says which cache has each of its positions.
namespace CAMEO_NAMESPACE::eps {

/// Keys and values of the work, which are these rows [batches, heads, room, size], become those of the beams that its
/// step goes on from: the positions of the past, each from the beam that cache_indirection names, and those of now, in
/// scratch. INVALID_ARGUMENT where cache_indirection does not fit, or names a beam that is not there.
status follow_beams(run_context&, const value& beams, const key_rows& k, const key_rows& v, attention_work&);

}  // namespace CAMEO_NAMESPACE::eps
