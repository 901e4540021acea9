#pragma once
#include <cameo/core/abi.hpp>

#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// Nodes that a provider took as one unit: the nodes of a group that it compiles, or a single node.
struct ep_assignment {
  /// A node of the model.
  struct node {
    std::string name, domain, op_type;
    CAMEO_API bool operator==(const node&) const;
  };
  std::string provider;  // its long name
  std::vector<node> nodes;
  CAMEO_API bool operator==(const ep_assignment&) const;
};

}  // namespace CAMEO_NAMESPACE
