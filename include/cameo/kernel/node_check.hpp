#pragma once
#include <cameo/kernel/operand.hpp>

namespace cameo::inline CAMEO_ABI {

/// Holds a node against a version of its operator, as far as kernels take it for granted: no parameter missing or too
/// many, types that the version allows, the same ones where a type string is shared, attributes of the right kind.
/// INVALID_GRAPH. For builds without a graph; with one, check_model has done more than this.
CAMEO_API status check_node(const op_version&, const node_signature&, std::span<const attribute>);

/// The part of it for a version that is known only by its predecessor: types of outputs.
CAMEO_API status check_outputs(const op_version&, const node_signature&);

}  // namespace cameo::inline CAMEO_ABI
