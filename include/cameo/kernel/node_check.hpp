#pragma once
#include <cameo/kernel/operand.hpp>

namespace CAMEO_NAMESPACE {

/// Checks what kernels rely on: the number of inputs and outputs, types that the operator's version allows, equal types
/// where a type string is shared, attributes of the right kind. INVALID_GRAPH. For builds without a graph; check_model
/// checks more than this in a graph.
CAMEO_API status check_node(const op_version&, const detail::node_signature&, std::span<const attribute>);

/// Checks the types of outputs only, with the operator's version before the node's.
CAMEO_API status check_outputs(const op_version&, const detail::node_signature&);

}  // namespace CAMEO_NAMESPACE
