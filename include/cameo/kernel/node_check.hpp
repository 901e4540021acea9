#pragma once
#include <cameo/kernel/operand.hpp>

namespace CAMEO_NAMESPACE {

/// Checks what kernels rely on: the number of inputs and outputs, types that the operator's version allows, equal types
/// where a type string is shared, attributes that the version has, of the right kind with legal values. INVALID_GRAPH.
/// For builds without a graph; check_model checks more than this in a graph. `roles` are the operator's.
CAMEO_API status check_node(const op_version&, role roles, const detail::node_signature&, std::span<const attribute>);

/// Checks a node whose version of the operator is newer than `version`, the newest that is known and that kernels were
/// written for, which rely on what that version demands. It may have further inputs and attributes.
CAMEO_API status check_newer_node(const op_version&, const detail::node_signature&, std::span<const attribute>);

}  // namespace CAMEO_NAMESPACE
