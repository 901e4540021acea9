#pragma once
#include <cameo/graph/views.hpp>

namespace CAMEO_NAMESPACE {

/// True if the Casts from the float16 value `x` to the float16 output of `last_cast` round a float32 value
/// (rules/wide_float16.hpp). Casts that change no float16 number must stay there.
bool rounds_between_chains(const value_view& x, const node_view& last_cast);

/// True for a Dropout that returns its input.
bool is_inference(const node_view& dropout);

}  // namespace CAMEO_NAMESPACE
