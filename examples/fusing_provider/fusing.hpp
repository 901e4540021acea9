#pragma once
#include <cameo/ep/provider.hpp>

namespace acme {

/// A compiling provider. It takes the largest convex groups of nodes that are elementwise arithmetic on float tensors
/// of one shape, and compiles each group to one loop, which reads and writes every element once, for any number of
/// nodes. The loops can be stored in a compiled model. Stateless; thread-safe.
struct fusing {
  static constexpr std::string_view name = "fusing", long_name = "FusingExecutionProvider";

  /// Groups of at least two nodes; a single node would not become faster.
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const;
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const;

  static constexpr cameo::context_source sources[] = {{long_name}};
  /// The names of the compiled graphs, with their bytes.
  struct context_builder {
    std::vector<std::pair<std::string, std::string>> graphs;
  };
  cameo::result<cameo::context_part> store(context_builder&, const cameo::fused_view&,
                                           const cameo::compiled_node&) const;
  cameo::status write(const context_builder&, cameo::byte_sink) const;
  cameo::result<cameo::compiled_node> restore(const cameo::context_binary&, const cameo::context_node&) const;
};
static_assert(cameo::context_store<fusing>);

}  // namespace acme
