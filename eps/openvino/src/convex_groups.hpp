#pragma once
#include <cameo/graph/graph.hpp>

namespace cameo::inline CAMEO_ABI::eps::openvino_detail {

/// The nodes of a graph in as few and as large groups as can be without a path that leaves one and comes back, also by
/// way of others. `nodes` are in order of execution, and so are those of each group.
std::vector<std::vector<node_id>> convex_groups(const graph&, std::span<const node_id> nodes);

}  // namespace cameo::inline CAMEO_ABI::eps::openvino_detail
