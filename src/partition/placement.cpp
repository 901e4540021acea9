#include <cameo/partition/placement.hpp>

#include "graph/placement.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

int first_match(const placement_rules& all, std::string_view text) {
  for (const placement_rule& rule : all.rules) {
    const bool matches = all.by_name  ? text.find(rule.pattern) != text.npos
                         : rule.exact ? text == rule.pattern
                                      : text.substr(0, rule.pattern.size()) == rule.pattern;
    if (matches) return rule.kind;
  }
  return -1;
}

}  // namespace

int placement_rules::kind_of(const graph& g, node_id n) const {
  for (const graph* at = &g; at && n != node_id::none; n = at->holder(), at = at->outer()) {
    const graph_node& node = (*at)[n];
    const std::string_view text = by_name ? node.name : placement_of(node.metadata);
    const int kind = first_match(*this, text);
    if (kind >= 0 || (!by_name && !text.empty())) return kind;
  }
  return -1;
}

}  // namespace cameo::inline CAMEO_ABI
