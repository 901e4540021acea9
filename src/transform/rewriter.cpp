#include <cameo/transform/rewriter.hpp>

#include "graph/messages.hpp"

namespace CAMEO_NAMESPACE {

const std::vector<dim>* rewriter::elements(const value_view& v) {
  if (!v || (!elements_known_ && !is_possible(refresh()))) return nullptr;
  const auto known = elements_.find(std::uint32_t(v.id()));
  return known == elements_.end() ? nullptr : &known->second;
}

namespace {

bool is_read(const graph& g, const detail::graph_node& n) {
  for (value_id v : n.outputs)
    if (v != value_id::none && (g[v].use_count > 0 || g[v].is_output)) return true;
  return false;
}

/// True if the node is the producer of all its outputs: files may list a value twice.
bool owns_outputs(const graph& g, node_id n) {
  for (value_id v : g[n].outputs)
    if (v != value_id::none && g[v].producer != n) return false;
  return true;
}

}  // namespace

void rewriter::prune(node_id first, std::vector<node_id>* removed) {
  std::vector<node_id> todo{first};
  while (!todo.empty()) {
    const node_id n = todo.back();
    todo.pop_back();
    if (n == node_id::none || !may_touch(node(n)) || is_read(graph_, graph_[n]) || !owns_outputs(graph_, n)) continue;
    const detail::graph_node& gone = graph_[n];
    for (std::size_t i = 0; i < gone.input_count; ++i)
      if (const value_id v = graph_.input(n, i); v != value_id::none) todo.push_back(graph_[v].producer);
    for (std::size_t i = 0; i < gone.capture_count; ++i)
      if (const value_id v = graph_.capture(n, i); v != value_id::none) todo.push_back(graph_[v].producer);
    graph_.remove_node(n);
    if (removed) removed->push_back(n);
  }
}

bool rewriter::remove_dead() {
  bool changed = false;
  const std::vector<node_id> order{graph_.order().begin(), graph_.order().end()};
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    if (!may_touch(node(*at)) || is_read(graph_, graph_[*at]) || !owns_outputs(graph_, *at)) continue;
    graph_.remove_node(*at);
    changed = true;
  }
  return graph_.remove_unused_initializers() || changed;
}

status rewriter::refresh() {
  if (status sorted = graph_.sort(); !sorted) return sorted;
  elements_.clear();
  elements_known_ = true;
  return infer_types(graph_, &elements_);
}

}  // namespace CAMEO_NAMESPACE
