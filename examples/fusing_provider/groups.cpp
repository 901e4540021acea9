// Selects the groups of nodes that are compiled.
#include "fusing.hpp"
#include "program.hpp"

#include <cameo/partition/convex_groups.hpp>

#include <algorithm>

namespace acme {
namespace {

using cameo::graph_view;
using cameo::node_view;
using cameo::value_view;

bool same_shape(const value_view& a, const value_view& b) {
  const auto *const s = a.type(), *const t = b.type();
  if (!s || !t || !s->shape || !t->shape || s->shape->size() != t->shape->size()) return false;
  return std::equal(s->shape->begin(), s->shape->end(), t->shape->begin(),
                    [](cameo::dim m, cameo::dim n) { return m.same(n); });
}

/// True for a node that is not assigned to a provider, has an opcode, and whose tensors are float and of the same
/// shape.
bool can_take(const node_view& node) {
  if (node.provider() >= 0 || !instruction_for(node)) return false;
  const value_view out = node.output(0);
  for (value_view in : node.inputs())
    if (!in || in.element() != cameo::dtype::f32 || !same_shape(in, out)) return false;
  return out.element() == cameo::dtype::f32;
}

}  // namespace

cameo::result<std::vector<cameo::node_group>> fusing::groups(const graph_view& g) const {
  std::vector<cameo::node_id> mine;
  for (node_view node : g.nodes() | cameo::where(can_take)) mine.push_back(node.id());
  std::vector<cameo::node_group> made;
  for (std::vector<cameo::node_id>& nodes : cameo::convex_groups(g, mine))
    if (nodes.size() > 1) made.push_back({std::move(nodes), "loop"});
  return made;
}

}  // namespace acme
