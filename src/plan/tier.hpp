#pragma once
#include <cameo/core/status.hpp>

namespace CAMEO_NAMESPACE {

/// True in a build for targets, where code size matters more than features: steps run in order, all values lie in host
/// memory, and shapes found in a run are not stored for the next one.
inline constexpr bool target_tier = !status::has_words;

}  // namespace CAMEO_NAMESPACE
