#pragma once
#include <cameo/core/device_kind.hpp>
#include <cameo/graph/views.hpp>
#include <cameo/partition/assignment.hpp>

#include <string>
#include <vector>

CAMEO_BEGIN_NAMESPACE

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

CAMEO_END_NAMESPACE
