#include <cameo/graph/model.hpp>

#include "functions.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "messages.hpp"

namespace CAMEO_NAMESPACE {
namespace {

struct call {
  const function* callee;
  std::size_t depth;  // depth of the graph with the call, below the body
};

/// The nodes and calls of a function's body, or of the main graph.
struct body_facts {
  const function* target = nullptr;
  std::size_t nodes = 0, depth = 0;  // without calls at first, then with all calls expanded
  std::vector<call> calls = {};
  std::size_t next_call = 0;
  enum { untouched, open, done } state = untouched;
};

void collect(const graph& g, std::size_t depth, body_facts& facts) {
  facts.depth = std::max(facts.depth, depth);
  for (std::size_t i = 0; i < g.node_capacity(); ++i) {
    const detail::graph_node& n = g[node_id(i)];
    if (n.removed) continue;
    ++facts.nodes;
    if (n.callee) facts.calls.push_back({n.callee, depth});
    for (const graph* body : n.subgraphs) collect(*body, depth + 1, facts);
  }
}

std::size_t saturating_sum(std::size_t a, std::size_t b) {
  return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max() : a + b;
}

status recursion(const std::vector<body_facts*>& path, const body_facts& again) {
  std::string chain;
  for (auto at = std::find(path.begin(), path.end(), &again); at != path.end(); ++at)
    chain += function_name(*(*at)->target) + " -> ";
  return failed(status_code::invalid_graph, "functions must not call themselves: {}{}", chain,
                function_name(*again.target));
}

}  // namespace

std::string function_name(const function& f) {
  return fmt::format("{}{}{}{}{}", f.domain, f.domain.empty() ? "" : ".", f.name, f.overload.empty() ? "" : ":",
                     f.overload);
}

status check_calls(const model& m) {
  if (m.functions.empty()) return status_code::ok;
  std::vector<body_facts> all(m.functions.size() + 1);
  std::unordered_map<const function*, std::size_t> number;
  for (std::size_t i = 0; i < m.functions.size(); ++i) {
    all[i].target = &m.functions[i];
    number.emplace(&m.functions[i], i);
    collect(*m.functions[i].body, 0, all[i]);
  }
  collect(m.main(), 0, all.back());
  std::vector<body_facts*> path;  // an explicit stack, since chains of calls may be long
  for (body_facts& root : all) {
    if (root.state == body_facts::untouched) path.push_back(&root);
    while (!path.empty()) {
      body_facts& top = *path.back();
      top.state = body_facts::open;
      if (top.next_call == top.calls.size()) {
        top.state = body_facts::done;
        path.pop_back();
        continue;
      }
      const call& c = top.calls[top.next_call];
      body_facts& callee = all[number.at(c.callee)];
      if (callee.state == body_facts::open) return recursion(path, callee);
      if (callee.state == body_facts::untouched) {
        path.push_back(&callee);
        continue;
      }
      top.nodes = saturating_sum(top.nodes, callee.nodes);
      top.depth = std::max(top.depth, c.depth + callee.depth);
      ++top.next_call;
      const auto where = [&] {
        return top.target ? fmt::format("function '{}'", function_name(*top.target)) : std::string{"the graph"};
      };
      if (top.nodes > max_expanded_nodes)
        return failed(status_code::invalid_graph, "{} has more than {} nodes once its functions are inlined", where(),
                      max_expanded_nodes);
      if (top.depth > max_graph_depth)
        return failed(status_code::invalid_graph, "{} nests graphs more than {} deep once its functions are inlined",
                      where(), max_graph_depth);
    }
  }
  return status_code::ok;
}

}  // namespace CAMEO_NAMESPACE
