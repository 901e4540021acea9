#include <cameo/graph/graph.hpp>
#include <cameo/graph/model.hpp>
#include "graph/name_index.hpp"

#include "messages.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <unordered_map>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::uint32_t no_edge = 0xFFFFFFFF;

}  // namespace

struct graph::lists {
  std::vector<detail::graph_value> values;
  std::vector<detail::graph_node> nodes;
  std::vector<edge> edges;
  std::vector<value_id> inputs, outputs, initializers, captures;
  std::vector<node_id> order;
  name_index by_name;
  std::unordered_map<std::uint32_t, value_id> captured;  // by the outer value's number
  std::uint64_t next_unique = 0;

  auto names() const {
    return [this](std::uint32_t v) { return values[v].name; };
  }
};

graph::graph(model& owner, graph* outer) : owner_{&owner}, outer_{outer}, lists_{new lists} {}
graph::~graph() = default;

std::span<const value_id> graph::inputs() const { return lists_->inputs; }
std::span<const value_id> graph::outputs() const { return lists_->outputs; }
std::span<const value_id> graph::initializers() const { return lists_->initializers; }
std::span<const value_id> graph::captures() const { return lists_->captures; }
std::span<const node_id> graph::order() const { return lists_->order; }

// --- uses ---

void graph::link(std::uint32_t e) {
  edge& added = edges_[e];
  added.next = added.previous = no_edge;
  if (added.value == value_id::none) return;
  detail::graph_value& v = (*this)[added.value];
  added.next = v.first_edge;
  if (v.first_edge != no_edge) edges_[v.first_edge].previous = e;
  v.first_edge = e;
  ++v.use_count;
}

void graph::unlink(std::uint32_t e) {
  edge& gone = edges_[e];
  if (gone.value == value_id::none) return;
  detail::graph_value& v = (*this)[gone.value];
  (gone.previous == no_edge ? v.first_edge : edges_[gone.previous].next) = gone.next;
  if (gone.next != no_edge) edges_[gone.next].previous = gone.previous;
  gone.value = value_id::none;
  gone.next = gone.previous = no_edge;
  --v.use_count;
}

std::uint32_t graph::append_edge(node_id n, value_id v) {
  lists_->edges.push_back({v, n, no_edge, no_edge});
  edges_ = lists_->edges.data();
  link(std::uint32_t(lists_->edges.size() - 1));
  return std::uint32_t(lists_->edges.size() - 1);
}

void graph::move_edges_to_end(node_id n, std::span<const value_id> inputs) {
  detail::graph_node& node = (*this)[n];
  const std::uint32_t old = node.first_edge, captures_at = old + node.input_count;
  for (std::uint32_t e = old; e < captures_at; ++e) unlink(e);
  node.first_edge = std::uint32_t(lists_->edges.size());
  for (value_id v : inputs) append_edge(n, v);
  for (std::uint32_t i = 0; i < node.capture_count; ++i) {
    const value_id captured = edges_[captures_at + i].value;
    unlink(captures_at + i);
    append_edge(n, captured);
  }
  node.input_count = std::uint32_t(inputs.size());
}

std::uint32_t graph::find_capture_edge(node_id n, value_id v) const {
  const detail::graph_node& node = (*this)[n];
  const std::uint32_t first = node.first_edge + node.input_count, last = first + node.capture_count;
  if (node.capture_count <= (*this)[v].use_count) {  // whichever list is shorter
    for (std::uint32_t e = first; e < last; ++e)
      if (edges_[e].value == v) return e;
  } else {
    for (std::uint32_t e = (*this)[v].first_edge; e != no_edge; e = edges_[e].next)
      if (e >= first && e < last) return e;
  }
  return no_edge;
}

void graph::add_capture_edge(node_id n, value_id v) {
  if (find_capture_edge(n, v) != no_edge) return;
  detail::graph_node& node = (*this)[n];
  if (node.first_edge + node.input_count + node.capture_count != lists_->edges.size()) {
    std::vector<value_id> inputs(node.input_count);
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = input(n, i);
    move_edges_to_end(n, inputs);
  }
  append_edge(n, v);
  ++(*this)[n].capture_count;
}

void graph::drop_capture_edge(node_id n, value_id v) {
  const std::uint32_t gone = find_capture_edge(n, v);
  if (gone == no_edge) return;
  detail::graph_node& node = (*this)[n];
  const std::uint32_t last = node.first_edge + node.input_count + --node.capture_count;
  const value_id kept = edges_[last].value;
  unlink(gone);
  if (gone == last) return;
  unlink(last);
  edges_[gone].value = kept;
  link(gone);
}

// --- values ---

void graph::reserve(std::size_t values, std::size_t nodes, std::size_t inputs) {
  lists_->values.reserve(value_count_ + values);
  lists_->nodes.reserve(node_count_ + nodes);
  lists_->edges.reserve(lists_->edges.size() + inputs);
  values_ = lists_->values.data(), nodes_ = lists_->nodes.data(), edges_ = lists_->edges.data();
  lists_->by_name.reserve(value_count_ + values);
}

value_id graph::append(const detail::graph_value& v) {
  lists_->values.push_back(v);
  values_ = lists_->values.data(), value_count_ = lists_->values.size();
  const auto number = std::uint32_t(value_count_ - 1);
  if (!v.name.empty()) lists_->by_name.insert(v.name, number, lists_->names());
  return value_id{number};
}

value_id graph::add_value(std::string_view value_name, const value_type* type) {
  detail::graph_value v;
  v.name = or_throw(owner_->memory.copy(value_name));
  v.type = type;
  return append(v);
}

void graph::add_input(value_id v) {
  lists_->inputs.push_back(v);
  (*this)[v].is_input = true;
}

void graph::add_output(value_id v) {
  lists_->outputs.push_back(v);
  (*this)[v].is_output = true;
}

void graph::add_initializer(value_id v, const value* constant) {
  lists_->initializers.push_back(v);
  (*this)[v].constant = constant;
}

void graph::remove_initializer(value_id v) {
  // The search begins at the end, where the value that was added last is.
  const auto at = std::find(lists_->initializers.rbegin(), lists_->initializers.rend(), v);
  if (at != lists_->initializers.rend()) lists_->initializers.erase(std::next(at).base());
}

bool graph::remove_unused_initializers() {
  return std::erase_if(lists_->initializers, [&](value_id v) {
           const detail::graph_value& each = (*this)[v];
           return each.use_count == 0 && !each.is_output && !each.is_input;
         }) > 0;
}

void graph::set_outputs(std::span<const value_id> outputs) {
  std::vector<value_id> fresh{outputs.begin(), outputs.end()};
  for (value_id v : lists_->outputs) (*this)[v].is_output = false;
  lists_->outputs = std::move(fresh);
  for (value_id v : lists_->outputs) (*this)[v].is_output = true;
}

value_id graph::find(std::string_view value_name) const {
  return value_id{lists_->by_name.find(value_name, lists_->names())};
}

value_id graph::resolve(std::string_view value_name) {
  if (const value_id here = find(value_name); here != value_id::none) return here;
  const value_id there = outer_ ? outer_->resolve(value_name) : value_id::none;
  return there == value_id::none ? there : capture_of(there);
}

value_id graph::capture_of(value_id outer) {
  const auto [at, is_new] = lists_->captured.try_emplace(std::uint32_t(outer), value_id::none);
  if (!is_new) return at->second;
  const detail::graph_value& from = (*outer_)[outer];
  detail::graph_value v;
  v.name = from.name;  // texts lie in the model, so both share it
  v.type = from.type;
  v.constant = from.constant;
  v.outer = outer;
  const value_id made = at->second = append(v);
  lists_->captures.push_back(made);
  if (holder_ != node_id::none && !(*outer_)[holder_].removed) outer_->add_capture_edge(holder_, outer);
  return made;
}

void graph::move_to(graph& outer, std::span<const value_id> captured) {
  outer_ = &outer;
  holder_ = node_id::none;
  lists_->captured.clear();
  for (std::size_t i = 0; i < lists_->captures.size(); ++i) {
    (*this)[lists_->captures[i]].outer = captured[i];
    lists_->captured.emplace(std::uint32_t(captured[i]), lists_->captures[i]);
  }
}

const value* graph::constant_of(value_id v) const {
  const graph* home = this;
  for (; (*home)[v].outer != value_id::none; home = home->outer_) v = (*home)[v].outer;
  const detail::graph_value& source = (*home)[v];
  const bool has_defaults = owner_->ir_version == 0 || owner_->ir_version >= 4;
  return source.is_input && (has_defaults || home->outer_) ? nullptr : source.constant;
}

std::string_view graph::unique_name(std::string_view stem) {
  const auto taken = [&](std::string_view candidate) {
    for (const graph* g = this; g; g = g->outer_)
      if (g->find(candidate) != value_id::none) return true;
    return candidate.empty();
  };
  if (!taken(stem)) return or_throw(owner_->memory.copy(stem));
  for (;;)
    if (const std::string candidate = fmt::format("{}_{}", stem, lists_->next_unique++); !taken(candidate))
      return or_throw(owner_->memory.copy(std::string_view{candidate}));
}

// --- nodes ---

node_id graph::add_node(const node_spec& spec) {
  arena& memory = owner_->memory;
  const node_id id{std::uint32_t(node_count_)};
  detail::graph_node n;
  n.name = or_throw(memory.copy(spec.name));
  n.domain = or_throw(memory.copy(spec.domain));
  n.op_type = or_throw(memory.copy(spec.op_type));
  n.overload = or_throw(memory.copy(spec.overload));
  n.doc_string = or_throw(memory.copy(spec.doc_string));
  n.opset = spec.opset;
  n.attributes = or_throw(memory.copy(spec.attributes));
  n.subgraphs = or_throw(memory.copy(spec.subgraphs));
  n.outputs = or_throw(memory.copy(spec.outputs));
  n.metadata = or_throw(memory.copy(spec.metadata));
  n.first_edge = std::uint32_t(lists_->edges.size());
  n.input_count = std::uint32_t(spec.inputs.size());
  lists_->nodes.push_back(n);
  nodes_ = lists_->nodes.data(), node_count_ = lists_->nodes.size();
  ++node_changes_;
  for (value_id v : spec.inputs) append_edge(id, v);
  for (std::size_t i = 0; i < n.outputs.size(); ++i)
    if (n.outputs[i] != value_id::none) {
      (*this)[n.outputs[i]].producer = id;
      (*this)[n.outputs[i]].producer_output = std::uint32_t(i);
    }
  for (graph* body : n.subgraphs) {
    body->holder_ = id;
    for (value_id c : body->lists_->captures) add_capture_edge(id, (*body)[c].outer);
  }
  return id;
}

void graph::remove_node(node_id id) {
  detail::graph_node& n = (*this)[id];
  if (n.removed) return;
  for (std::uint32_t i = 0; i < n.input_count + n.capture_count; ++i) unlink(n.first_edge + i);
  n.input_count = n.capture_count = 0;
  for (value_id v : n.outputs)
    if (v != value_id::none && (*this)[v].producer == id) (*this)[v].producer = node_id::none;
  n.outputs = {};
  n.removed = true;
  ++node_changes_;
}

void graph::set_input(node_id n, std::size_t i, value_id v) {
  const std::uint32_t e = (*this)[n].first_edge + std::uint32_t(i);
  unlink(e);
  edges_[e].value = v;
  link(e);
}

void graph::set_inputs(node_id n, std::span<const value_id> inputs) {
  const std::vector<value_id> copy{inputs.begin(), inputs.end()};
  if (copy.size() != (*this)[n].input_count) return move_edges_to_end(n, copy);
  for (std::size_t i = 0; i < copy.size(); ++i) set_input(n, i, copy[i]);
}

void graph::set_attributes(node_id n, std::span<const attribute> attributes) {
  (*this)[n].attributes = or_throw(owner_->memory.copy(attributes));
}

void graph::set_output(node_id n, std::size_t i, value_id v) {
  std::span<value_id> outputs = or_throw(owner_->memory.copy((*this)[n].outputs));
  if (outputs[i] != value_id::none && (*this)[outputs[i]].producer == n) (*this)[outputs[i]].producer = node_id::none;
  outputs[i] = v;
  (*this)[n].outputs = outputs;
  if (v == value_id::none) return;
  (*this)[v].producer = n;
  (*this)[v].producer_output = std::uint32_t(i);
}

void graph::replace_uses(value_id from, value_id to) {
  if (from == to) return;
  std::uint32_t next = no_edge;
  for (std::uint32_t e = (*this)[from].first_edge; e != no_edge; e = next) {
    next = edges_[e].next;
    const node_id n = edges_[e].node;
    const detail::graph_node& node = (*this)[n];
    const bool is_capture = e - node.first_edge >= node.input_count;
    if (is_capture && find_capture_edge(n, to) != no_edge) {
      // Compacting a node's captures moves its last one, which is not a use of `from`: a node captures a value once.
      drop_capture_edge(n, from);
    } else {
      unlink(e);
      edges_[e].value = to;
      link(e);
    }
    if (is_capture)
      for (graph* body : node.subgraphs) body->recapture(from, to);
  }
}

void graph::recapture(value_id from, value_id to) {
  const auto at = lists_->captured.find(std::uint32_t(from));
  if (at == lists_->captured.end()) return;
  const value_id old = at->second;
  lists_->captured.erase(at);
  detail::graph_value& v = (*this)[old];
  lists_->by_name.erase(v.name, std::uint32_t(old), lists_->names());
  const auto [other, is_new] = lists_->captured.try_emplace(std::uint32_t(to), old);
  if (is_new) {
    const detail::graph_value& source = (*outer_)[to];
    v.outer = to;
    v.name = source.name;
    v.type = source.type;
    v.constant = source.constant;
    if (!v.name.empty()) lists_->by_name.insert(v.name, std::uint32_t(old), lists_->names());
    return;
  }
  replace_uses(old, other->second);  // both captured: the two become one
  lists_->captures.erase(std::find(lists_->captures.begin(), lists_->captures.end(), old));
  v.outer = value_id::none;
  if (!v.is_output) return;
  std::replace(lists_->outputs.begin(), lists_->outputs.end(), old, other->second);
  v.is_output = false;
  (*this)[other->second].is_output = true;
}

// --- order ---

bool graph::is_sorted() const {
  for (std::size_t i = 0; i < node_count_; ++i) {
    const detail::graph_node& n = nodes_[i];
    for (std::uint32_t e = n.first_edge; e < n.first_edge + n.input_count + n.capture_count; ++e) {
      if (edges_[e].value == value_id::none) continue;
      const node_id producer = (*this)[edges_[e].value].producer;
      if (producer != node_id::none && index_of(producer) >= i) return false;
    }
  }
  return true;
}

status graph::sort() {
  std::vector<node_id> order;
  order.reserve(node_count_);
  if (is_sorted()) {
    for (std::size_t i = 0; i < node_count_; ++i)
      if (!nodes_[i].removed) order.push_back(node_id{std::uint32_t(i)});
    lists_->order = std::move(order);
    return status_code::ok;
  }
  std::vector<std::uint32_t> waits(node_count_, 0);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  std::size_t count = 0;
  for (std::size_t i = 0; i < node_count_; ++i) {
    const detail::graph_node& n = nodes_[i];
    if (n.removed) continue;
    ++count;
    for (std::uint32_t e = n.first_edge; e < n.first_edge + n.input_count + n.capture_count; ++e)
      if (edges_[e].value != value_id::none && (*this)[edges_[e].value].producer != node_id::none) ++waits[i];
    if (waits[i] == 0) ready.push(std::uint32_t(i));
  }
  while (!ready.empty()) {
    const node_id n{ready.top()};
    ready.pop();
    order.push_back(n);
    const std::span<const value_id> outputs = (*this)[n].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == value_id::none) continue;
      const detail::graph_value& v = (*this)[outputs[i]];
      if (v.producer != n || v.producer_output != i)
        continue;  // in a hostile file, produced by another node, too, or
                   // listed twice
      for (use u : uses(outputs[i]))
        if (--waits[index_of(u.node)] == 0) ready.push(std::uint32_t(u.node));
    }
  }
  if (order.size() != count) return cycle_error(waits);
  lists_->order = std::move(order);
  return status_code::ok;
}

status graph::cycle_error(std::span<const std::uint32_t> waits) const {
  // Starts at a node that never became ready and goes from each node to a producer that never became ready either. A
  // node that is reached twice is part of a cycle.
  std::size_t at = 0;
  while (nodes_[at].removed || waits[at] == 0) ++at;
  std::vector<bool> seen(node_count_, false);
  std::size_t via = at;
  while (!seen[at]) {
    seen[at] = true;
    const detail::graph_node& n = nodes_[at];
    const std::size_t from = at;
    for (std::uint32_t e = n.first_edge; e < n.first_edge + n.input_count + n.capture_count; ++e) {
      if (edges_[e].value == value_id::none) continue;
      const node_id producer = (*this)[edges_[e].value].producer;
      if (producer != node_id::none && waits[index_of(producer)] != 0) {
        via = from;
        at = index_of(producer);
        break;
      }
    }
  }
  return failed(status_code::invalid_graph,
                "{} is part of a cycle: its output reaches its own input through {}; nodes must form an acyclic graph",
                describe(*this, nodes_[at]), describe(*this, nodes_[via]));
}

}  // namespace CAMEO_NAMESPACE
