#pragma once
#include "sdk.hpp"

#include <cameo/graph/views.hpp>
#include <cameo/partition/claimer.hpp>

namespace cameo::inline CAMEO_ABI::eps::openvino_detail {

/// The free nodes of a graph that the device runs, in order of execution. Values at their borders are tensors of
/// element types that inputs and outputs of the SDK can have; what else must hold, the SDK says.
result<std::vector<node_id>> runnable_nodes(const sdk&, const graph_view&, const std::string& device);

/// The nodes of a graph in as few and as large groups as can be without a path that leaves one and comes back, also by
/// way of others. `nodes` are in order of execution, and so are those of each group.
std::vector<std::vector<node_id>> convex_groups(const graph&, std::span<const node_id> nodes);

/// The SDK's element type for one of ours; DYNAMIC where it has none that inputs and outputs can be of.
ov_element_type_e element_type_of(dtype);

}  // namespace cameo::inline CAMEO_ABI::eps::openvino_detail
