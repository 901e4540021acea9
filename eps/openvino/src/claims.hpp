#pragma once
#include "sdk.hpp"

#include <cameo/graph/views.hpp>
#include <cameo/partition/claimer.hpp>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// The unassigned nodes of a graph that the device runs, in order of execution. Their inputs and outputs are tensors of
/// element types that the SDK's inputs and outputs can have; the SDK checks everything else.
result<std::vector<node_id>> runnable_nodes(const sdk&, const graph_view&, const std::string& device);

/// The SDK's element type for a dtype; DYNAMIC for a dtype that the SDK's inputs and outputs can't have.
ov_element_type_e element_type_of(dtype);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
