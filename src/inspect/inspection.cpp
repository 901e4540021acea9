#include <cameo/graph/model.hpp>

#include "inspect/inspection.hpp"

#include <fmt/format.h>

namespace cameo::inspect {
namespace {

/// Adds the initializers of a graph and of the graphs in its nodes. Every node is visited, even those that order()
/// omits.
void add_parameters(const graph& g, parameter_sum& sum) {
  for (value_id v : g.initializers())
    if (const value* constant = g[v].constant; constant && constant->kind == value_kind::tensor) {
      ++sum.tensors;
      sum.elements += std::uint64_t(constant->shape.count());
      sum.bytes += constant->bytes();
    }
  for (std::size_t n = 0; n < g.node_capacity(); ++n)
    if (const detail::graph_node& node = g[node_id(n)]; !node.removed)
      for (const graph* sub : node.subgraphs) add_parameters(*sub, sum);
}

std::vector<partition_info> partitions_of(const std::vector<placement_info>& placements) {
  std::vector<partition_info> found;
  for (const placement_info& p : placements) {
    if (p.depth != 0) continue;
    const bool joins = !found.empty() && found.back().provider == p.provider && found.back().fused_from.empty() &&
                       p.fused_from.empty();
    const std::string& name = p.node.empty() ? p.op_type : p.node;
    if (!joins) found.push_back({p.provider, p.fused_from, name, name, 0});
    found.back().last = name;
    ++found.back().nodes;
  }
  return found;
}

}  // namespace

std::string domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string{domain}; }

inspection look_at(const model& m) {
  inspection made;
  for (node_view node : graph_view{m.main()}.nodes())
    ++made.ops[node.domain().empty() ? std::string{node.op_type()}
                                     : fmt::format("{}.{}", node.domain(), node.op_type())];
  add_parameters(m.main(), made.parameters);
  return made;
}

inspection look_at(const session& loaded) {
  inspection made;
  made.placements = loaded.placements(true);
  made.partitions = partitions_of(made.placements);
  for (const std::string& name : loaded.providers()) made.providers.emplace_back(name, 0);
  for (const placement_info& p : made.placements) {
    ++made.ops[p.domain.empty() ? p.op_type : p.domain + "." + p.op_type];
    for (auto& [name, count] : made.providers)
      if (name == p.provider) ++count;
  }
  add_parameters(loaded.graph().main(), made.parameters);
  return made;
}

}  // namespace cameo::inspect
