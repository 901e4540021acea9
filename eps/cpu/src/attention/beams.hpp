#pragma once
#include <cameo/kernel/run_context.hpp>

// What the attention operators of com.microsoft share for searches with beams: a beam goes on from another one without
// its cache being copied, and cache_indirection says which cache has each of its positions.
namespace cameo::inline CAMEO_ABI::eps {

/// A cache of keys or values, [batches, heads, room, row], of which `past` positions lie before those of now.
struct beam_cache {
  std::int64_t batches, heads, room, past, keys;  // keys: those of the past and of now
  std::size_t row_bytes;
};
/// INVALID_ARGUMENT where cache_indirection does not fit, or names a beam that is not there.
status check_beams(const value& beams, std::int64_t batches, std::int64_t past);
/// The positions of the past, each from the beam that cache_indirection names, and those of now: in scratch, [batches,
/// heads, keys, row].
result<const std::byte*> pick_beams(run_context&, const value& beams, const beam_cache&, const void* from);

}  // namespace cameo::inline CAMEO_ABI::eps
