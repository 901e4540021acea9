#pragma once
#include <cameo/graph/views.hpp>

CAMEO_BEGIN_NAMESPACE

/// True if Casts from the float16 value `x` to the float16 output of `last_cast` are where a float32 value is rounded
/// (rules/wide_float16.hpp). Casts that change no float16 number are to stay there.
bool rounds_between_chains(const value_view& x, const node_view& last_cast);

/// True for a Dropout that returns its input.
bool is_inference(const node_view& dropout);

CAMEO_END_NAMESPACE
