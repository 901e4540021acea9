#pragma once
#include <cameo/partition/partition.hpp>

namespace cameo::inline CAMEO_ABI {

/// Replaces a group of nodes by one node named `name`; its body becomes a graph of the model's. The caller sorts the
/// graph. FAIL when the group is not convex or a node of it has subgraphs.
result<fused_node> fuse(graph&, const node_group&, const std::string& name);

}  // namespace cameo::inline CAMEO_ABI
