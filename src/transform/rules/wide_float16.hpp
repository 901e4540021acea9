#pragma once
#include <cameo/graph/views.hpp>

CAMEO_BEGIN_NAMESPACE

/// True if Casts from the float16 value `x` to the float16 output of `last_cast` are where a float32 value is rounded
/// (rules/wide_float16.hpp). Casts that change no float16 number are to stay there.
bool rounds_between_chains(const value_view& x, const node_view& last_cast);

/// True for a Dropout that returns its input.
bool is_inference(const node_view& dropout);

// With session.round_float16 each node of the model rounds. What rewrites make then must not round less often.

/// True for a new node of level basic that rounds once where a product and a sum round twice.
bool joins_bias_of_float16(const node_view& made);
/// True for a new float16 node of a higher level, where fusions join nodes of all kinds.
bool fuses_float16(const node_view& made);

CAMEO_END_NAMESPACE
