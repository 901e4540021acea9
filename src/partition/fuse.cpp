// Fuses all groups of a provider together, with tables that are made once, so that the cost of a group depends only on
// its nodes.
#include "partition/fuse.hpp"

#include "graph/messages.hpp"

#include <fmt/format.h>

#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t nowhere = std::size_t(-1);

/// Moves a node with its subgraphs from one graph to another. `twin(v)` returns the value of `to` that replaces a value
/// v of `from` that the node reads, makes or captures. The caller removes the old node, which has lost its subgraphs.
template <class Twin>
void move_node(graph& from, node_id n, graph& to, Twin twin) {
  const auto twins = [&](std::span<const value_id> values) {
    std::vector<value_id> made;
    for (value_id v : values) made.push_back(v == value_id::none ? v : twin(v));
    return made;
  };
  const detail::graph_node node = from[n];
  from[n].subgraphs = {};
  for (graph* sub : node.subgraphs) {
    std::vector<value_id> captured;
    for (value_id v : sub->captures()) captured.push_back((*sub)[v].outer);
    sub->move_to(to, twins(captured));
  }
  std::vector<value_id> read;
  for (std::size_t i = 0; i < node.input_count; ++i) read.push_back(from.input(n, i));
  const std::vector<value_id> inputs = twins(read), outputs = twins(node.outputs);
  const node_id made = to.add_node({node.name, node.domain, node.op_type, node.overload, node.doc_string, node.opset,
                                    inputs, outputs, node.attributes, node.subgraphs, node.metadata});
  to[made].op = node.op, to[made].version = node.version, to[made].callee = node.callee;
}

class fuser {
 public:
  fuser(graph& g, std::span<const group_to_fuse> groups)
      : graph_{g}, groups_{groups}, group_(g.node_capacity(), nowhere), members_(groups.size()) {
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (node_id n : groups[i].group->nodes) group_[index_of(n)] = i;
    for (node_id n : g.order())
      if (const std::size_t i = group_of(n); i != nowhere) members_[i].push_back(n);
  }

  result<std::vector<fused_node>> run() {
    if (status s = require_convex(); !s) return s;
    std::vector<fused_node> made;
    for (std::size_t i = 0; i < groups_.size(); ++i) made.push_back(fuse(i));
    return made;
  }

 private:
  /// The group of an original node; nodes that replace groups have none.
  std::size_t group_of(node_id n) const { return index_of(n) < group_.size() ? group_[index_of(n)] : nowhere; }
  bool inside(node_id n, std::size_t group) const { return n != node_id::none && group_of(n) == group; }

  // --- convexity: with every group as one node, the graph has no cycle ---

  /// The index of the part that a node belongs to. A part is a group or a node outside all groups; indices of groups
  /// come first.
  std::size_t part_of(node_id n) const {
    const std::size_t group = group_of(n);
    return group == nowhere ? groups_.size() + index_of(n) : group;
  }
  template <class F>
  void each_node_of(std::size_t part, F&& f) const {
    if (part >= groups_.size()) return f(node_id(part - groups_.size()));
    for (node_id n : members_[part]) f(n);
  }
  /// Calls `f(part)` for each read of the part's values by another part.
  template <class F>
  void each_reader(std::size_t part, F&& f) const {
    each_node_of(part, [&](node_id n) {
      for (value_id v : graph_[n].outputs) {
        if (v == value_id::none) continue;
        for (const graph::use u : graph_.uses(v))
          if (part_of(u.node) != part) f(part_of(u.node));
      }
    });
  }

  /// Checks that the parts form no cycle: repeatedly removes a part that depends on no remaining part. Parts that are
  /// never removed are on a cycle or depend on one.
  status require_convex() const {
    std::vector<std::uint32_t> waits(groups_.size() + graph_.node_capacity());
    std::vector<std::size_t> parts(groups_.size()), ready;
    std::iota(parts.begin(), parts.end(), std::size_t{0});
    for (node_id n : graph_.order())
      if (group_of(n) == nowhere) parts.push_back(part_of(n));
    for (std::size_t part : parts) each_reader(part, [&](std::size_t reader) { ++waits[reader]; });
    for (std::size_t part : parts)
      if (waits[part] == 0) ready.push_back(part);
    for (std::size_t next = 0; next < ready.size(); ++next)
      each_reader(ready[next], [&](std::size_t reader) {
        if (--waits[reader] == 0) ready.push_back(reader);
      });
    return ready.size() == parts.size() ? status{} : not_convex(waits);
  }

  struct step_back {
    std::size_t part = nowhere;                           // the part that was read
    node_id reads = node_id::none, read = node_id::none;  // the node that reads, and the node that it reads
  };
  /// An edge from a blocked part to another blocked part that it depends on.
  step_back back_from(std::size_t part, std::span<const std::uint32_t> waits) const {
    step_back made;
    each_node_of(part, [&](node_id n) {
      for (std::size_t i = 0; i < std::size_t{graph_[n].input_count} + graph_[n].capture_count; ++i) {
        const value_id v = graph_.input(n, i);
        const node_id from = v == value_id::none ? node_id::none : graph_[v].producer;
        if (from != node_id::none && part_of(from) != part && waits[part_of(from)] != 0)
          made = {part_of(from), n, from};
      }
    });
    return made;
  }

  /// The error for the last group of a cycle, which could not be fused after the groups before it.
  status not_convex(std::span<const std::uint32_t> waits) const {
    std::size_t at = 0;
    while (waits[at] == 0) ++at;
    for (std::vector<bool> seen(waits.size()); !seen[at]; at = back_from(at, waits).part) seen[at] = true;
    std::size_t last = nowhere;
    const std::size_t start = at;
    do {
      if (at < groups_.size() && (last == nowhere || at > last)) last = at;
      at = back_from(at, waits).part;
    } while (at != start);
    const step_back round = back_from(last, waits);
    return failed(status_code::fail,
                  "the group is not convex: a path from it returns to its {} through {}, which is not in it",
                  name_of(graph_, graph_[round.reads]),
                  round.part < groups_.size() ? fmt::format("the group '{}'", groups_[round.part].name)
                                              : name_of(graph_, graph_[round.read]));
  }

  // --- one group ---

  struct borders {
    std::vector<value_id> inputs, outputs, constants;
  };
  /// The values that the group reads or captures from outside, and the values of the group that are read outside, in
  /// the order of first use.
  borders find_borders(std::size_t group) const {
    borders found;
    std::unordered_set<std::size_t> seen;
    for (node_id n : members_[group])
      for (std::size_t i = 0; i < std::size_t{graph_[n].input_count} + graph_[n].capture_count; ++i) {
        const value_id v = graph_.input(n, i);
        if (v == value_id::none || inside(graph_[v].producer, group) || !seen.insert(index_of(v)).second) continue;
        const bool is_constant = !graph_[v].is_input && graph_.constant_of(v);  // also a constant of an outer scope
        (is_constant ? found.constants : found.inputs).push_back(v);
      }
    for (node_id n : members_[group])
      for (value_id v : graph_[n].outputs)
        if (v != value_id::none && read_outside(v, group)) found.outputs.push_back(v);
    return found;
  }
  bool read_outside(value_id v, std::size_t group) const {
    if (graph_[v].is_output) return true;
    for (const graph::use u : graph_.uses(v))
      if (!inside(u.node, group)) return true;
    return false;
  }

  fused_node fuse(std::size_t group) {
    const std::string& name = groups_[group].name;
    const borders at = find_borders(group);
    fused_node made{name, 0, &graph_, node_id::none, nullptr, {}};
    made.body = &make_body(group, at, made.values);
    for (node_id n : members_[group]) graph_.remove_node(n);
    node_spec spec;
    spec.name = name, spec.op_type = name;
    spec.inputs = at.inputs, spec.outputs = at.outputs;
    made.node = graph_.add_node(spec);
    return made;
  }

  graph& make_body(std::size_t group, const borders& at, std::vector<value_id>& values) {
    graph& body = graph_.owner().add_graph(nullptr);
    body.name = *graph_.owner().memory.copy(std::string_view{groups_[group].name});
    std::unordered_map<std::size_t, value_id> twin;
    const auto copy_value = [&](value_id v) {
      const auto [place, fresh] = twin.try_emplace(index_of(v), value_id::none);
      if (fresh) place->second = body.add_value(graph_[v].name, graph_[v].type), values.push_back(v);
      return place->second;
    };
    for (value_id v : at.inputs) body.add_input(copy_value(v));
    for (value_id v : at.constants) body.add_initializer(copy_value(v), graph_.constant_of(v));
    for (node_id n : members_[group]) move_node(graph_, n, body, copy_value);
    for (value_id v : at.outputs) body.add_output(copy_value(v));
    static_cast<void>(body.sort());  // a part of an acyclic graph is acyclic
    return body;
  }

  graph& graph_;
  std::span<const group_to_fuse> groups_;
  std::vector<std::size_t> group_;             // of a node
  std::vector<std::vector<node_id>> members_;  // of a group, in the graph's order
};

}  // namespace

result<std::vector<fused_node>> fuse(graph& g, std::span<const group_to_fuse> groups) { return fuser{g, groups}.run(); }

void unfuse(const fused_node& gone) {
  graph &g = *gone.in, &body = const_cast<graph&>(*gone.body);
  std::vector<value_id> twin = gone.values;
  for (std::size_t i = 0; i < body.inputs().size(); ++i) twin[index_of(body.inputs()[i])] = g.input(gone.node, i);
  for (std::size_t i = 0; i < body.outputs().size(); ++i) twin[index_of(body.outputs()[i])] = g[gone.node].outputs[i];
  g.remove_node(gone.node);  // frees its outputs
  for (node_id n : body.order()) move_node(body, n, g, [&](value_id v) { return twin[index_of(v)]; });
}

}  // namespace CAMEO_NAMESPACE
