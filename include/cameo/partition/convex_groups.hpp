#pragma once
#include <cameo/graph/views.hpp>

#include <span>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// For a provider's `groups`: nodes of a graph in as few and as large groups as can be without a path that leaves one
/// and comes back, also by way of other groups. `nodes` are in an order of execution, free and without subgraphs; so
/// are those of each group. Near linear in the graph's size; of a very large graph with many small groups some stay
/// apart that might have been one.
CAMEO_API std::vector<std::vector<node_id>> convex_groups(const graph_view&, std::span<const node_id> nodes);

}  // namespace cameo::inline CAMEO_ABI
