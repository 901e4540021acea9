#include <cameo/partition/placement.hpp>

#include "graph/placement.hpp"

namespace CAMEO_NAMESPACE {
namespace {

std::optional<device_kind> first_match(const placement_rules& all, std::string_view text) {
  for (const placement_rule& rule : all.rules) {
    const bool matches = all.by_name  ? text.find(rule.pattern) != text.npos
                         : rule.exact ? text == rule.pattern
                                      : text.substr(0, rule.pattern.size()) == rule.pattern;
    if (matches) return rule.kind;
  }
  return std::nullopt;
}

}  // namespace

std::optional<device_kind> placement_rules::kind_of(const graph& g, node_id n) const {
  for (const graph* at = &g; at && n != node_id::none; n = at->holder(), at = at->outer()) {
    const detail::graph_node& node = (*at)[n];
    const std::string_view text = by_name ? node.name : placement_of(node.metadata);
    const std::optional<device_kind> kind = first_match(*this, text);
    if (kind || (!by_name && !text.empty())) return kind;
  }
  return std::nullopt;
}

}  // namespace CAMEO_NAMESPACE
