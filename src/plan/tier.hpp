#pragma once
#include <cameo/core/status.hpp>

CAMEO_BEGIN_NAMESPACE

/// True in a build for targets, where code counts more than what it could do: steps run in order, all values lie in the
/// host's memory, and what a run finds out about shapes is not kept for the next one.
inline constexpr bool target_tier = !status::has_words;

CAMEO_END_NAMESPACE
