#pragma once
#include <cameo/kernel/operand.hpp>

namespace CAMEO_NAMESPACE {

/// Checks what kernels rely on: the number of inputs and outputs, types that the operator's version allows, equal types
/// where a type string is shared, attributes of the right kind with legal values. INVALID_GRAPH. For builds without a
/// graph; check_model checks more than this in a graph.
CAMEO_API status check_node(const op_version&, const detail::node_signature&, std::span<const attribute>);

/// Checks a node whose version of the operator is newer than `version`, the newest that is known and that kernels were
/// written for: only that required inputs are given, the types of outputs, and the attributes. match() compares the
/// types of inputs with those that a kernel takes.
CAMEO_API status check_newer_node(const op_version&, const detail::node_signature&, std::span<const attribute>);

}  // namespace CAMEO_NAMESPACE
