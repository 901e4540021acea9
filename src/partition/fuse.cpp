#include "partition/fuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace cameo::inline CAMEO_ABI {
namespace {

class fuser {
 public:
  fuser(graph& g, const node_group& group) : graph_{g} {
    for (node_id n : group.nodes) inside_.insert(index_of(n));
    for (node_id n : g.order())
      if (inside_.count(index_of(n))) nodes_.push_back(n);
  }

  result<fused_node> run(const std::string& name) {
    for (node_id n : nodes_)
      if (!graph_[n].subgraphs.empty())
        return status{status_code::fail, fmt::format("claims node '{}' ({}) inside a group, but it holds graphs; only "
                                                     "nodes without graphs can be fused",
                                                     graph_[n].name, graph_[n].op_type)};
    if (status s = require_convex(); !s) return s;
    find_borders();
    fused_node made{name, 0, &graph_, node_id::none, nullptr};
    made.body = &copy_body(name);
    for (node_id n : nodes_) graph_.remove_node(n);
    node_spec spec;
    spec.name = name, spec.op_type = name;
    spec.inputs = inputs_, spec.outputs = outputs_;
    made.node = graph_.add_node(spec);
    return made;
  }

 private:
  bool inside(node_id n) const { return n != node_id::none && inside_.count(index_of(n)); }

  /// A path that leaves the group must not come back. Walks from the group's readers on, not along order(): groups of
  /// one provider are fused one after the other, and only then is the graph sorted again.
  status require_convex() const {
    std::vector<bool> reached(graph_.node_capacity());  // outside, reads from the group, perhaps by way of others
    std::vector<node_id> waiting(nodes_.begin(), nodes_.end());
    while (!waiting.empty()) {
      const node_id from = waiting.back();
      waiting.pop_back();
      for (value_id v : graph_[from].outputs) {
        if (v == value_id::none) continue;
        for (const graph::use u : graph_.uses(v)) {
          if (inside(u.node)) {
            if (!inside(from)) return not_convex(from, u.node);
          } else if (!reached[index_of(u.node)]) {
            reached[index_of(u.node)] = true;
            waiting.push_back(u.node);
          }
        }
      }
    }
    return {};
  }
  status not_convex(node_id through, node_id back) const {
    return {status_code::fail,
            fmt::format("the group is not convex: a path from it comes back to its node '{}' by way of node '{}', "
                        "which is not in it",
                        graph_[back].name, graph_[through].name)};
  }

  /// What the group reads from outside and what others read of it, in the order they first appear.
  void find_borders() {
    std::unordered_set<std::size_t> seen;
    for (node_id n : nodes_)
      for (std::size_t i = 0; i < graph_.input_count(n); ++i) {
        const value_id v = graph_.input(n, i);
        if (v == value_id::none || inside(graph_[v].producer) || !seen.insert(index_of(v)).second) continue;
        if (!graph_[v].is_input && graph_.constant_of(v)) constants_.push_back(v);  // also what a scope around has
        else inputs_.push_back(v);
      }
    for (node_id n : nodes_)
      for (value_id v : graph_[n].outputs)
        if (v != value_id::none && read_outside(v)) outputs_.push_back(v);
  }
  bool read_outside(value_id v) const {
    if (graph_[v].is_output) return true;
    for (const graph::use u : graph_.uses(v))
      if (!inside(u.node)) return true;
    return false;
  }

  graph& copy_body(const std::string& name) {
    graph& body = graph_.owner().add_graph(nullptr);
    body.name = *graph_.owner().memory.copy(std::string_view{name});
    std::unordered_map<std::size_t, value_id> twin;
    const auto copy_value = [&](value_id v) {
      const auto [at, fresh] = twin.try_emplace(index_of(v), value_id::none);
      if (fresh) at->second = body.add_value(graph_[v].name, graph_[v].type);
      return at->second;
    };
    for (value_id v : inputs_) body.add_input(copy_value(v));
    for (value_id v : constants_) body.add_initializer(copy_value(v), graph_.constant_of(v));
    std::vector<value_id> ins, outs;
    for (node_id n : nodes_) {
      ins.clear(), outs.clear();
      for (std::size_t i = 0; i < graph_.input_count(n); ++i) {
        const value_id v = graph_.input(n, i);
        ins.push_back(v == value_id::none ? v : copy_value(v));
      }
      for (value_id v : graph_[n].outputs) outs.push_back(v == value_id::none ? v : copy_value(v));
      const graph_node& from = graph_[n];
      node_spec spec{from.name, from.domain,     from.op_type, from.overload, from.doc_string, from.opset, ins,
                     outs,      from.attributes, {},           from.metadata};
      const node_id made = body.add_node(spec);
      body[made].op = from.op, body[made].version = from.version;
    }
    for (value_id v : outputs_) body.add_output(copy_value(v));
    static_cast<void>(body.sort());  // a part of an acyclic graph is acyclic
    return body;
  }

  graph& graph_;
  std::unordered_set<std::size_t> inside_;
  std::vector<node_id> nodes_;
  std::vector<value_id> inputs_, outputs_, constants_;
};

}  // namespace

result<fused_node> fuse(graph& g, const node_group& group, const std::string& name) {
  return fuser{g, group}.run(name);
}

}  // namespace cameo::inline CAMEO_ABI
