#pragma once
#include <cameo/partition/placement.hpp>

#include "session/config.hpp"

namespace CAMEO_NAMESPACE {

/// Parses session.layer_assignment_settings or session.name_based_layer_assignment, "gpu(encoder, =head); cpu(io)";
/// no rules if neither is set. INVALID_ARGUMENT naming the key, the position in the text, and what was expected.
result<placement_rules> placement_rules_of(const session_config&);

}  // namespace CAMEO_NAMESPACE
