#include <cameo/graph/model.hpp>

#include "placement.hpp"

#include "messages.hpp"

namespace CAMEO_NAMESPACE {

std::string_view placement_of(std::span<const detail::property> properties) {
  for (const auto& [key, text] : properties)
    if (key == placement_key) return text;
  return {};
}

void set_placement(model& m, detail::graph_node& n, std::string_view text) {
  if (placement_of(n.metadata) == text) return;
  std::vector<detail::property> all(n.metadata.begin(), n.metadata.end());
  std::erase_if(all, [](const detail::property& each) { return each.first == placement_key; });
  if (!text.empty()) all.emplace_back(placement_key, text);
  n.metadata = or_throw(m.memory.copy(std::span<const detail::property>{all}));
}

void inherit_placement(graph& g, std::span<const node_id> nodes, std::string_view text) {
  if (text.empty()) return;
  for (node_id n : nodes)
    if (placement_of(g[n].metadata).empty()) set_placement(g.owner(), g[n], text);
}

void placement_vote::add(const graph& g, node_id n) {
  const op_row* const op = g[n].op;
  if (!op || !detail::has_role(op->roles, role::is_constant)) add(placement_of(g[n].metadata));
}

}  // namespace CAMEO_NAMESPACE
