#pragma once
#include <cameo/graph/views.hpp>

#include <span>
#include <vector>

namespace CAMEO_NAMESPACE {

/// For a provider's `groups`: combines nodes of a graph into as few and large groups as possible, so that no path
/// leaves a group and returns, also through other groups. `nodes` are not assigned; what their subgraphs capture counts
/// as input. The nodes of each group are in order of execution. Nearly linear in the graph's size. In a very large
/// graph with many small groups, some groups that could be one may stay separate.
CAMEO_API std::vector<std::vector<node_id>> convex_groups(const graph_view&, std::span<const node_id> nodes);

}  // namespace CAMEO_NAMESPACE
