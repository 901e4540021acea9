// Which nodes become one: clusters grow along edges, as long as no path leaves a cluster and comes back.
#include "fusing.hpp"
#include "program.hpp"

#include <algorithm>
#include <unordered_map>

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

/// True for a free node, of an operator that programs have, on float tensors that all have the output's shape.
bool can_take(const node_view& node) {
  if (node.provider() >= 0 || !instruction_for(node)) return false;
  const value_view out = node.output(0);
  for (value_view in : node.inputs())
    if (!in || in.element() != cameo::dtype::f32 || !same_shape(in, out)) return false;
  return out.element() == cameo::dtype::f32;
}

class clusters {
 public:
  explicit clusters(const graph_view& g) : graph_{g} {
    for (node_view node : g.nodes()) {
      number_.emplace(node.id(), nodes_.size());
      cluster_.push_back(nodes_.size());
      members_.push_back({nodes_.size()});
      taken_.push_back(can_take(node));
      nodes_.push_back(node);
    }
  }

  /// Repeats until nothing changes: a detour that forbids a merge may itself be merged later.
  std::vector<cameo::node_group> grow() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t from = 0; from < nodes_.size(); ++from)
        for (node_view reader : nodes_[from].output(0).consumers()) changed |= merge(from, number_.at(reader.id()));
    }
    std::vector<cameo::node_group> groups;
    for (const std::vector<std::size_t>& members : members_) {
      if (members.size() < 2) continue;
      cameo::node_group& group = groups.emplace_back();
      group.name = "loop";
      for (std::size_t n : members) group.nodes.push_back(nodes_[n].id());
    }
    return groups;
  }

 private:
  bool merge(std::size_t from, std::size_t to) {
    const std::size_t a = cluster_[from], b = cluster_[to];
    if (!taken_[from] || !taken_[to] || a == b || has_detour(a, b)) return false;
    for (std::size_t n : members_[b]) cluster_[n] = a;
    members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
    members_[b].clear();
    return true;
  }

  /// True if a path leads from cluster a to cluster b through others. Other clusters count as one node.
  bool has_detour(std::size_t a, std::size_t b) const {
    std::vector<bool> seen(nodes_.size());
    std::vector<std::size_t> waiting{a};
    while (!waiting.empty()) {
      const std::size_t at = waiting.back();
      waiting.pop_back();
      for (std::size_t n : members_[at])
        for (value_view out : nodes_[n].outputs()) {
          if (!out) continue;
          for (node_view reader : out.consumers()) {
            const std::size_t next = cluster_[number_.at(reader.id())];
            if (next == b && at != a) return true;
            if (next == a || next == b || seen[next]) continue;
            seen[next] = true;
            waiting.push_back(next);
          }
        }
    }
    return false;
  }

  graph_view graph_;
  std::vector<node_view> nodes_;
  std::unordered_map<cameo::node_id, std::size_t> number_;
  std::vector<std::size_t> cluster_;               // of a node
  std::vector<std::vector<std::size_t>> members_;  // of a cluster
  std::vector<bool> taken_;
};

}  // namespace

cameo::result<std::vector<cameo::node_group>> fusing::groups(const graph_view& g) const { return clusters{g}.grow(); }

}  // namespace acme
