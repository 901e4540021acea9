#pragma once
#include <cameo/core/device_kind.hpp>
#include <cameo/graph/views.hpp>

#include <string>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// Gives matching nodes to a kind of device.
struct placement_rule {
  std::string pattern;
  device_kind kind = device_kind::cpu;
  bool exact = false;  // the whole text, not only its beginning
};

/// Which nodes are meant for which kind of device (session.layer_assignment_settings and
/// session.name_based_layer_assignment; docs/placement.md).
struct placement_rules {
  std::vector<placement_rule> rules;  // in order of precedence: the first that matches a node counts
  bool by_name = false;               // patterns are compared with names of nodes, not with their metadata `layer_ann`
  std::string_view said_by = {};      // the session's key, for messages; a literal

  /// The kind that a node is given to, or std::nullopt. A node without an annotation of its own (by name: without a
  /// matching rule) has the kind of the node that holds its graph.
  CAMEO_API std::optional<device_kind> kind_of(const graph&, node_id) const;
};

/// Nodes that a provider took in one piece during partitioning: the nodes of a group that it compiles, or one node.
struct ep_assignment {
  /// A node as in the model.
  struct node {
    std::string name, domain, op_type;
    bool operator==(const node&) const = default;
  };
  std::string provider;  // its long name
  std::vector<node> nodes;
  bool operator==(const ep_assignment&) const = default;
};

}  // namespace cameo::inline CAMEO_ABI
