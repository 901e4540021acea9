#pragma once
#include "sdk.hpp"

#include <cameo/graph/views.hpp>
#include <cameo/partition/claimer.hpp>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// The free nodes of a graph that the device runs, in order of execution. Values at their borders are tensors of
/// element types that inputs and outputs of the SDK can have; what else must hold, the SDK says.
result<std::vector<node_id>> runnable_nodes(const sdk&, const graph_view&, const std::string& device);

/// The SDK's element type for one of ours; DYNAMIC where it has none that inputs and outputs can be of.
ov_element_type_e element_type_of(dtype);

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
