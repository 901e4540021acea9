#pragma once
#include <cameo/ep/provider.hpp>

namespace acme {

/// A compiling provider: takes the largest convex pieces of a graph that are elementwise arithmetic on float tensors of
/// one shape, and turns each into one loop: every element is read once and written once, whatever lies in between.
/// Stateless; thread-safe.
struct fusing {
  static constexpr std::string_view name = "fusing", long_name = "FusingExecutionProvider";

  /// Pieces of at least two nodes: one node alone gains nothing.
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const;
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const;
};

}  // namespace acme
