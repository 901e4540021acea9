#pragma once
#include <cameo/core/device_kind.hpp>
#include <cameo/graph/views.hpp>

#include <string>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// Gives nodes to a kind of device.
struct placement_rule {
  std::string pattern;
  device_kind kind = device_kind::cpu;
  bool exact = false;  // the whole text, not how it starts
};

/// Which nodes are meant for which kind of device (session.layer_assignment_settings and
/// session.name_based_layer_assignment; docs/placement.md).
struct placement_rules {
  std::vector<placement_rule> rules;  // in order of precedence: the first that matches a node counts
  bool by_name = false;               // patterns are looked for in names of nodes, not in what they have as `layer_ann`
  std::string_view said_by = {};      // the session's key, for messages; a literal

  /// The kind that a node is given to, or nothing. A node that says nothing itself (by name: that no rule
  /// speaks of) goes with the node that holds its graph.
  CAMEO_API std::optional<device_kind> kind_of(const graph&, node_id) const;
};

/// What a provider got in one piece while nodes were given to providers: the nodes of a group that it compiles, or one.
struct ep_assignment {
  /// As the model has it.
  struct node {
    std::string name, domain, op_type;
    bool operator==(const node&) const = default;
  };
  std::string provider;  // its long name
  std::vector<node> nodes;
  bool operator==(const ep_assignment&) const = default;
};

}  // namespace cameo::inline CAMEO_ABI
