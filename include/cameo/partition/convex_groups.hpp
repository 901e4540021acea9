#pragma once
#include <cameo/graph/views.hpp>

#include <span>
#include <vector>

CAMEO_BEGIN_NAMESPACE

/// For a provider's `groups`: combines nodes of a graph into as few and as large groups as possible without a path that
/// leaves a group and comes back, also through other groups. `nodes` are free; what their subgraphs capture counts as
/// read. Those of each group are in order of execution. Near linear in the graph's size; in a very large graph with
/// many small groups, some that could have been one may stay apart.
CAMEO_API std::vector<std::vector<node_id>> convex_groups(const graph_view&, std::span<const node_id> nodes);

CAMEO_END_NAMESPACE
