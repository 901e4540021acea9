#pragma once
#include <cameo/partition/partition.hpp>

namespace CAMEO_NAMESPACE {

/// A group that becomes one node.
struct group_to_fuse {
  const node_group* group = nullptr;
  std::string name;  // the node's name
};

/// Replaces disjoint groups of one graph by one node each, with the groups' names; their bodies become graphs of the
/// model. Subgraphs of their nodes move into the bodies, and what they capture from outside the group becomes inputs.
/// The fused nodes are in the groups' order. order() is up to date; the caller sorts the graph afterwards. Linear in
/// the size of the graph, for any number of groups.
///   FAIL  a group is not convex once the groups before it are single nodes; then nothing has changed
result<std::vector<fused_node>> fuse(graph&, std::span<const group_to_fuse>);

/// Replaces a fused node by the nodes of its body, which then are not assigned. The caller sorts the graph afterwards.
void unfuse(const fused_node&);

}  // namespace CAMEO_NAMESPACE
