#pragma once
#include <cameo/core/device_kind.hpp>
#include <cameo/graph/views.hpp>
#include <cameo/partition/assignment.hpp>

#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// Assigns matching nodes to a kind of device.
struct placement_rule {
  std::string pattern;
  device_kind kind = device_kind::cpu;
  bool exact = false;  // compare the whole text, not only its beginning
};

/// The kinds of devices that nodes are assigned to (session.layer_assignment_settings and
/// session.name_based_layer_assignment; docs/placement.md).
struct placement_rules {
  std::vector<placement_rule> rules;  // in order of precedence: the first that matches a node counts
  bool by_name = false;               // compare patterns with names of nodes, not with their metadata `layer_ann`
  std::string_view key = {};          // the session key, for messages; a literal

  /// The kind that a node is assigned to, or std::nullopt. A node without a separate annotation (or, by name, without a
  /// matching rule) has the kind of the node whose subgraph contains it.
  CAMEO_API std::optional<device_kind> kind_of(const graph&, node_id) const;
};

}  // namespace CAMEO_NAMESPACE
