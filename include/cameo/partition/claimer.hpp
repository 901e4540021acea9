#pragma once
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

namespace CAMEO_NAMESPACE {

/// Nodes that a provider takes as one unit. Without a name it is a single node, which runs unchanged; with a name, the
/// nodes are fused into one node that the provider compiles. A fused group is convex: no path leaves it and returns. A
/// group with a node that is already assigned is skipped; if it `insists`, loading fails instead, and the message names
/// the node and states why the group cannot have it.
/// Subgraphs of the nodes become part of the fused group: what they capture from outside becomes inputs, and a node in
/// them that is assigned to another provider counts as a node of the group.
struct node_group {
  std::vector<node_id> nodes;
  std::string name = {};
  bool insists = false;
};

/// A value of the attribute `source` of a compiled node that marks the node as the provider's.
struct context_source {
  std::string_view key;
  bool any_case = false;  // ignore case

  /// True if a node with this `source` is the provider's.
  constexpr bool matches(std::string_view source) const {
    if (!any_case) return source == key;
    if (source.size() != key.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; };
    for (std::size_t i = 0; i < key.size(); ++i)
      if (lower(source[i]) != lower(key[i])) return false;
    return true;
  }
};

/// The order of an image's axes: [N, C, H, W] as in ONNX, or [N, H, W, C].
enum class data_layout : std::uint8_t { nchw, nhwc };

}  // namespace CAMEO_NAMESPACE
