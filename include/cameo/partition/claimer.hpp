#pragma once
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

CAMEO_BEGIN_NAMESPACE

/// Nodes that a provider takes in one piece. Without a name it is one node, run as it is; with a name, its nodes are
/// fused into one node that the provider compiles. A fused group is convex: no path leaves it and comes back. A group
/// with a node that is already assigned is skipped as a whole; if it `insists`, loading ends instead, naming both. The
/// nodes of a fused group bring their subgraphs along: what these capture from outside the group becomes inputs, and a
/// node in them that another provider has counts as one of the group's.
struct node_group {
  std::vector<node_id> nodes;
  std::string name = {};
  bool insists = false;
};

/// A value of a compiled node's attribute `source` that marks it as the provider's own.
struct context_source {
  std::string_view key;
  bool any_case = false;  // upper and lower case are the same

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

/// The order of an image's axes: [N, C, H, W], as in ONNX, or [N, H, W, C].
enum class data_layout : std::uint8_t { nchw, nhwc };

CAMEO_END_NAMESPACE
