#pragma once
#include <cameo/kernel/operand.hpp>

CAMEO_BEGIN_NAMESPACE

/// Checks of a node against its operator's version what kernels rely on: the number of inputs and outputs, types that
/// the version allows, equal types where a type string is shared, attributes of the right kind.
/// INVALID_GRAPH. For builds without a graph; with a graph, check_model has already checked more.
CAMEO_API status check_node(const op_version&, const detail::node_signature&, std::span<const attribute>);

/// The types of outputs only, for a version of which only the version before it is known.
CAMEO_API status check_outputs(const op_version&, const detail::node_signature&);

CAMEO_END_NAMESPACE
