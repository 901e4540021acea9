#pragma once
#include <cameo/kernel/operand.hpp>

namespace CAMEO_NAMESPACE {

/// Checks what kernels rely on: the number of inputs and outputs, types that the operator's version allows, equal types
/// where a type string is shared, attributes of the right kind with legal values, inputs and attributes that need each
/// other. INVALID_GRAPH. For builds without a graph; check_model checks more than this in a graph. A node whose version
/// is newer than all that are known is checked against the newest, which kernels were written for.
CAMEO_API status check_node(const op_version&, const detail::node_signature&, std::span<const attribute>);

}  // namespace CAMEO_NAMESPACE
