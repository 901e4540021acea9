#pragma once
#include <cameo/partition/claimer.hpp>

namespace cameo::inline CAMEO_ABI::eps::frozen_file {

/// The nodes that are `wanted`, in as few convex groups as chains of other nodes between them allow. Takes time
/// proportional to the graph.
std::vector<node_group> convex_groups(const graph_view&, function_ref<bool(const node_view&)> wanted);

}  // namespace cameo::inline CAMEO_ABI::eps::frozen_file
