#pragma once
#include <cameo/core/result.hpp>
#include <cameo/graph/views.hpp>

namespace cameo::inline CAMEO_ABI {

/// What a provider takes of a graph in one piece. Without a name it is one node, run as it is; with one, its nodes are
/// fused into one node that the provider compiles. A fused group is convex: no path leaves it and comes back. A group
/// of which somebody has a node already is left alone as a whole; one that `insists` ends loading then, naming both.
struct node_group {
  std::vector<node_id> nodes;
  std::string name = {};
  bool insists = false;
};

/// Says, node by node, what a provider takes. Host only, one call per node, one thread; the view dies with the call.
/// True is a promise.
template <class P>
concept node_claimer = requires(const P& p, const node_view& n) {
  { p.claims(n) } -> std::same_as<bool>;
};
/// Says for a whole graph (a subgraph of If, Loop, ... is one of its own) what a provider takes, in order of wish.
/// Nodes that have a provider already are not to be taken (node_view::provider).
template <class P>
concept group_claimer = requires(const P& p, const graph_view& g) {
  { p.groups(g) } -> std::same_as<result<std::vector<node_group>>>;
};

/// A key in a compiled node's `source` by which a provider knows its own.
struct context_source {
  std::string_view key;
  bool any_case = false;  // letters of either case are the same

  /// Whether a node with this `source` is meant.
  constexpr bool is(std::string_view source) const {
    if (!any_case) return source == key;
    if (source.size() != key.size()) return false;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c; };
    for (std::size_t i = 0; i < key.size(); ++i)
      if (lower(source[i]) != lower(key[i])) return false;
    return true;
  }
};

/// Where images have their channels: [N, C, H, W], as ONNX has them, or [N, H, W, C].
enum class data_layout : std::uint8_t { nchw, nhwc };

}  // namespace cameo::inline CAMEO_ABI
