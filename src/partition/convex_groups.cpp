// Groups nodes by levels in one pass, which leaves few groups, and then joins neighboring groups if no path leads from
// one to the other through a third group.
#include <cameo/partition/convex_groups.hpp>

#include <algorithm>
#include <numeric>

namespace CAMEO_NAMESPACE {
namespace {

/// The limit for all searches for detours together: fewest_steps, and steps_per_node more for each node of the graph.
/// When it is reached, the remaining groups are not joined any more.
constexpr std::size_t steps_per_node = 512, fewest_steps = 100'000;

class grouping {
 public:
  grouping(const graph& g, std::span<const node_id> nodes)
      : graph_{g},
        taken_(g.node_capacity()),
        group_(g.node_capacity()),
        members_(g.node_capacity()),
        seen_in_(g.node_capacity()),
        steps_left_{fewest_steps + steps_per_node * g.order().size()} {
    for (node_id n : nodes) taken_[index_of(n)] = true;
    std::iota(group_.begin(), group_.end(), std::size_t{0});
    for (node_id n : g.order()) members_[index_of(n)] = {n};
  }

  /// A taken node has a higher level than taken nodes from which a path through other nodes leads to it. So a path
  /// between two nodes of one level contains only taken nodes of that level, and each connected component of them is
  /// convex.
  void join_by_levels() {
    std::vector<int> level(graph_.node_capacity(), -1);  // -1: no taken node comes before
    for (node_id n : graph_.order()) {
      int& own = level[index_of(n)];
      if (taken_[index_of(n)]) own = 0;
      each_producer(n, [&](node_id from) {
        const bool crosses = taken_[index_of(n)] && !taken_[index_of(from)];
        own = std::max(own, level[index_of(from)] + (crosses ? 1 : 0));
      });
    }
    for (node_id n : graph_.order())
      each_producer(n, [&](node_id from) {
        if (taken_[index_of(n)] && taken_[index_of(from)] && level[index_of(n)] == level[index_of(from)]) join(from, n);
      });
  }

  /// Joins neighbors. A join that a detour forbids may become possible when the detour itself is joined, so this
  /// repeats until nothing changes.
  void join_neighbors() {
    for (bool changed = true; changed;) {
      changed = false;
      for (node_id n : graph_.order()) {
        if (!taken_[index_of(n)]) continue;
        each_producer(n, [&](node_id from) {
          if (!taken_[index_of(from)] || group_of(from) == group_of(n) || has_detour(from, n)) return;
          join(from, n);
          changed = true;
        });
      }
    }
  }

  std::vector<std::vector<node_id>> groups() const {
    std::vector<std::vector<node_id>> found;
    std::vector<std::size_t> number(graph_.node_capacity(), std::size_t(-1));
    for (node_id n : graph_.order()) {
      if (!taken_[index_of(n)]) continue;
      std::size_t& at = number[group_of(n)];
      if (at == std::size_t(-1)) at = found.size(), found.emplace_back();
      found[at].push_back(n);
    }
    return found;
  }

 private:
  std::size_t group_of(node_id n) const { return group_[index_of(n)]; }

  /// Visits the producers of inputs and of what subgraphs capture.
  template <class F>
  void each_producer(node_id n, F&& f) const {
    const detail::graph_node& node = graph_[n];
    for (std::size_t i = 0; i < std::size_t{node.input_count} + node.capture_count; ++i) {
      const value_id v = graph_.input(n, i);
      if (v != value_id::none && graph_[v].producer != node_id::none) f(graph_[v].producer);
    }
  }

  void join(node_id a, node_id b) {
    std::size_t to = group_of(a), from = group_of(b);
    if (to == from) return;
    if (members_[to].size() < members_[from].size()) std::swap(to, from);
    for (node_id n : members_[from]) group_[index_of(n)] = to;
    members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
  }

  /// True if a path leads from the group of `from` to that of `to` through other groups, each of which counts as one
  /// node.
  bool has_detour(node_id from, node_id to) {
    const std::size_t a = group_of(from), b = group_of(to);
    ++search_;
    waiting_.assign(1, a);
    while (!waiting_.empty()) {
      const std::size_t at = waiting_.back();
      waiting_.pop_back();
      for (node_id n : members_[at])
        for (value_id v : graph_[n].outputs) {
          if (v == value_id::none) continue;
          for (const graph::use u : graph_.uses(v)) {
            if (steps_left_ == 0) return true;
            --steps_left_;
            const std::size_t next = group_of(u.node);
            if (next == b && at != a) return true;
            if (next == a || next == b || seen_in_[next] == search_) continue;
            seen_in_[next] = search_;
            waiting_.push_back(next);
          }
        }
    }
    return false;
  }

  const graph& graph_;
  std::vector<bool> taken_;
  std::vector<std::size_t> group_;             // of a node; a node that is not taken is a separate group
  std::vector<std::vector<node_id>> members_;  // of a group
  std::vector<std::size_t> seen_in_;           // per group: the last search that reached it
  std::vector<std::size_t> waiting_;           // of a search
  std::size_t search_ = 0, steps_left_;
};

}  // namespace

std::vector<std::vector<node_id>> convex_groups(const graph_view& g, std::span<const node_id> nodes) {
  grouping made{g.raw(), nodes};
  made.join_by_levels();
  made.join_neighbors();
  return made.groups();
}

}  // namespace CAMEO_NAMESPACE
