#pragma once
#include <cameo/graph/graph.hpp>
#include <cameo/op/attributes/attributes_of.hpp>

#include <iterator>

namespace CAMEO_NAMESPACE {

class node_view;

/// A reference to a value of a graph, cheap to copy. Invalid after the graph changes or is destroyed.
class value_view {
 public:
  value_view() = default;
  value_view(const graph& g, value_id id) : graph_{&g}, id_{id} {}
  /// False if the input or output is absent.
  explicit operator bool() const { return id_ != value_id::none; }
  value_id id() const { return id_; }
  std::string_view name() const { return self().name; }
  const value_type* type() const { return self().type; }
  /// The element type of a tensor; undefined if it is unknown or the value is not a tensor.
  dtype element() const { return type() && type()->is_tensor() ? type()->type : dtype::undefined; }
  const value* constant() const { return self().constant; }
  bool is_graph_input() const { return self().is_input; }
  bool is_graph_output() const { return self().is_output; }
  bool is_capture() const { return self().outer != value_id::none; }
  std::size_t use_count() const { return self().use_count; }
  /// True if the value has exactly one use, as an input of a node, and is not a graph output.
  bool sole_use() const { return use_count() == 1 && !is_graph_output(); }
  /// The node that produces the value; false for an input, a constant or a capture.
  node_view producer() const;
  /// The nodes that read the value, once for each use.
  auto consumers() const;
  bool operator==(const value_view&) const = default;

 private:
  const detail::graph_value& self() const { return (*graph_)[id_]; }
  const graph* graph_ = nullptr;
  value_id id_ = value_id::none;
};

namespace detail {
/// A lazy sequence of `count` items, each made from its index. It has operator[], so it composes without `<ranges>`.
template <class Make>
class indexed_view {
 public:
  using iterator = place_iterator<indexed_view, std::size_t>;
  indexed_view(std::size_t count, Make make) : count_{count}, make_{make} {}
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, count_}; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  auto operator[](std::size_t i) const { return make_(i); }
  auto item(std::size_t i) const { return make_(i); }
  std::size_t next(std::size_t i) const { return i + 1; }

 private:
  std::size_t count_;
  Make make_;
};
template <class Make>
indexed_view(std::size_t, Make) -> indexed_view<Make>;
}  // namespace detail

/// A reference to a node of a graph, cheap to copy. Invalid after the graph changes or is destroyed.
class node_view {
 public:
  node_view() = default;
  node_view(const graph& g, node_id id) : graph_{&g}, id_{id} {}
  explicit operator bool() const { return id_ != node_id::none; }
  node_id id() const { return id_; }
  const graph& in() const { return *graph_; }
  const detail::graph_node& raw() const { return (*graph_)[id_]; }

  std::string_view name() const { return raw().name; }
  std::string_view domain() const { return raw().domain; }
  std::string_view op_type() const { return raw().op_type; }
  const op_row* op() const { return raw().op; }
  int since() const { return raw().version ? raw().version->since : 0; }
  /// True for a node of one of these operators: `node.has_op<op::Add, op::Sub>()`.
  template <declared_op... Ops>
  bool has_op() const {
    const detail::graph_node& n = raw();
    return n.op && ((n.op->id == detail::op_id_of<Ops> && n.domain == Ops::domain && n.op_type == Ops::name) || ...);
  }
  /// True for a node whose operator has one of these roles.
  bool has_role(role any) const { return raw().op && detail::has_role(raw().op->roles, any); }
  /// The provider that the node is assigned to, or -1.
  int provider() const { return raw().provider; }

  std::size_t input_count() const { return raw().input_count; }
  std::size_t output_count() const { return raw().outputs.size(); }
  /// The i-th input; false if it is absent.
  value_view input(std::size_t i) const {
    return i < input_count() ? value_view{*graph_, graph_->input(id_, i)} : value_view{};
  }
  /// The i-th output; false if it is absent.
  value_view output(std::size_t i) const {
    return i < output_count() ? value_view{*graph_, raw().outputs[i]} : value_view{};
  }
  /// All inputs, including absent ones.
  auto inputs() const {
    return detail::indexed_view{input_count(), [n = *this](std::size_t i) { return n.input(i); }};
  }
  /// All outputs, including absent ones.
  auto outputs() const {
    return detail::indexed_view{output_count(), [n = *this](std::size_t i) { return n.output(i); }};
  }
  /// The values of this graph that the node's subgraphs read.
  auto captures() const {
    return detail::indexed_view{
        raw().capture_count, [n = *this](std::size_t i) { return value_view{*n.graph_, n.graph_->capture(n.id_, i)}; }};
  }
  std::span<graph* const> subgraphs() const { return raw().subgraphs; }
  const attribute* find(std::string_view name) const { return detail::find_attribute(raw().attributes, name); }
  /// The attributes as the struct of an operator, which has those that are read: `node.attributes<op::Gemm>().transA`.
  template <class Op>
  attributes_of<Op> attributes() const {
    return attributes_of<Op>{raw().attributes};
  }
  bool operator==(const node_view&) const = default;

 private:
  const graph* graph_ = nullptr;
  node_id id_ = node_id::none;
};

/// Queries on a graph, as providers use them. Nodes are in order of execution.
class graph_view {
 public:
  explicit graph_view(const graph& g) : graph_{&g} {}
  const graph& raw() const { return *graph_; }
  std::string_view name() const { return graph_->name; }
  /// All nodes, in order of execution.
  auto nodes() const {
    return detail::indexed_view{graph_->order().size(),
                                [g = graph_](std::size_t i) { return node_view{*g, g->order()[i]}; }};
  }
  /// The graph's inputs in the model's order, including those with an initializer.
  auto inputs() const {
    return detail::indexed_view{graph_->inputs().size(),
                                [g = graph_](std::size_t i) { return value_view{*g, g->inputs()[i]}; }};
  }
  /// The graph's outputs, in the model's order.
  auto outputs() const {
    return detail::indexed_view{graph_->outputs().size(),
                                [g = graph_](std::size_t i) { return value_view{*g, g->outputs()[i]}; }};
  }

 private:
  const graph* graph_;
};

inline node_view value_view::producer() const { return {*graph_, self().producer}; }

namespace detail {
/// The nodes that use a value, as a forward range.
class consumer_range {
  using place = graph::use_range::iterator;

 public:
  using iterator = place_iterator<consumer_range, place>;
  consumer_range(const graph& g, value_id v) : graph_{&g}, uses_{g.uses(v)} {}
  iterator begin() const { return {*this, uses_.begin()}; }
  iterator end() const { return {*this, uses_.end()}; }
  node_view item(place at) const { return {*graph_, (*at).node}; }
  place next(place at) const { return ++at; }

 private:
  const graph* graph_;
  graph::use_range uses_;
};
}  // namespace detail
inline auto value_view::consumers() const { return detail::consumer_range{*graph_, id_}; }

namespace detail {
/// Lazy queries: `graph_view{g}.nodes() | where(has_op<op::Conv>) | select([](node_view n) { return n.input(1); })`.
/// They contain their source by value, so they may outlive the expression, but not the graph.
template <class Range, class Keep>
class where_view {
  using place = decltype(std::declval<const Range&>().begin());

 public:
  using iterator = place_iterator<where_view, place>;
  where_view(Range range, Keep keep) : range_{range}, keep_{keep} {}
  iterator begin() const { return {*this, kept(range_.begin())}; }
  iterator end() const { return {*this, range_.end()}; }
  bool empty() const { return begin() == end(); }
  auto item(place at) const { return *at; }
  place next(place at) const { return kept(++at); }

 private:
  /// The first place from `at` on whose item is kept.
  place kept(place at) const {
    while (!(at == range_.end()) && !keep_(*at)) ++at;
    return at;
  }
  Range range_;
  Keep keep_;
};

/// The result of select(): a projection of each item.
template <class Range, class Project>
class select_view {
  using place = decltype(std::declval<const Range&>().begin());

 public:
  using iterator = place_iterator<select_view, place>;
  select_view(Range range, Project project) : range_{range}, project_{project} {}
  iterator begin() const { return {*this, range_.begin()}; }
  iterator end() const { return {*this, range_.end()}; }
  bool empty() const { return begin() == end(); }
  auto item(place at) const { return project_(*at); }
  place next(place at) const { return ++at; }

 private:
  Range range_;
  Project project_;
};
}  // namespace detail

/// `range | where(keep)` has the items for which keep(item) is true.
template <class Keep>
struct where {
  Keep keep;
  explicit where(Keep k) : keep{k} {}
  template <class Range>
  friend auto operator|(Range range, where w) {
    return detail::where_view<Range, Keep>{range, w.keep};
  }
};
/// `range | select(project)` has project(item) for each item.
template <class Project>
struct select {
  Project project;
  explicit select(Project p) : project{p} {}
  template <class Range>
  friend auto operator|(Range range, select s) {
    return detail::select_view<Range, Project>{range, s.project};
  }
};
/// A predicate: true for nodes of this operator.
template <declared_op Op>
inline constexpr auto has_op = [](const node_view& n) { return n.has_op<Op>(); };

/// The number of items of a query.
template <class Range>
std::size_t count(const Range& range) {
  std::size_t n = 0;
  for (auto it = range.begin(); !(it == range.end()); ++it) ++n;
  return n;
}

}  // namespace CAMEO_NAMESPACE
