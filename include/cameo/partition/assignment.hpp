#pragma once
#include <cameo/core/abi.hpp>

#include <string>
#include <vector>

CAMEO_BEGIN_NAMESPACE

/// Nodes that a provider took in one piece during partitioning: the nodes of a group that it compiles, or one node.
struct ep_assignment {
  /// A node as in the model.
  struct node {
    std::string name, domain, op_type;
    CAMEO_API bool operator==(const node&) const;
  };
  std::string provider;  // its long name
  std::vector<node> nodes;
  CAMEO_API bool operator==(const ep_assignment&) const;
};

CAMEO_END_NAMESPACE
