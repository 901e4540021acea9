#pragma once
#include <cameo/core/construct.hpp>
#include <cameo/op/op.hpp>
#include <cameo/op/value_type.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

/// The number of a value within one graph. Numbers stay valid while the graph changes.
enum class value_id : std::uint32_t { none = 0xFFFFFFFF };
/// The number of a node within one graph. Numbers stay valid while the graph changes.
enum class node_id : std::uint32_t { none = 0xFFFFFFFF };
/// The number as an index.
constexpr std::size_t index_of(value_id v) { return std::size_t(v); }
constexpr std::size_t index_of(node_id n) { return std::size_t(n); }

class graph;
class model;
struct function;

namespace detail {
/// A key and its text in the metadata (metadata_props) of a model, graph, node or value.
using property = std::pair<std::string_view, std::string_view>;

/// One value of a graph: exactly one of a graph input, an initializer (or both: an input with a default), an output of
/// `producer`, and a capture from the enclosing graph. Texts and types lie in the model.
struct graph_value {
  std::string_view name;
  // The type; null if unknown. After check_model() its sizes hold in every run: they are those of the main graph's
  // inputs, which each run checks, or were inferred from these.
  const value_type* type = nullptr;
  // What the file declares for a value that is not an input of the main graph; check_model() moves it here. A run may
  // contradict its sizes, so they serve display and files (described_type), and the stacked outputs of a loop without
  // iterations, which have no other sizes.
  const value_type* declared = nullptr;
  // The data of an initializer or a Constant node, in host memory. Large data from a file may be unaligned
  // (is_aligned).
  const value* constant = nullptr;
  node_id producer = node_id::none;
  std::uint32_t producer_output = 0;
  std::uint32_t first_edge = 0xFFFFFFFF;  // start of the list of uses
  std::uint32_t use_count = 0;            // number of uses by nodes of this graph, captures included
  value_id outer = value_id::none;        // for a capture, the value of the enclosing graph
  bool is_input = false, is_output = false;
  std::string_view doc_string;
  std::span<const property> metadata;
  std::string_view unknown;           // see model::unknown
  std::string_view constant_unknown;  // as `unknown`, for the initializer's own message
};

/// The type of a value for display and for files: sizes that are not inferred are the declared ones.
CAMEO_API value_type described_type(const graph_value&);

/// One node. `op` is null before check_model(), and for a call of a model-local function (`callee`) until it is
/// inlined.
struct graph_node {
  std::string_view name, domain, op_type, overload, doc_string;
  std::int64_t opset = 0;  // opset of its domain where the node was written (functions have their own imports)
  const op_row* op = nullptr;
  const op_version* version = nullptr;
  const function* callee = nullptr;
  std::span<const attribute> attributes;
  std::span<graph* const> subgraphs;  // the graph attributes, by their number
  std::uint32_t first_edge = 0;       // start of inputs, then captures
  std::uint32_t input_count = 0, capture_count = 0;
  std::span<const value_id> outputs;  // value_id::none: absent
  std::span<const property> metadata;
  std::string_view unknown;  // see model::unknown
  bool removed = false;
  bool shapes_fit = false;  // the shapes of all inputs were known once, and fit op_version::shapes

  std::int32_t provider = -1;  // the provider that runs it: index into the runtime's list, once partitioned
  std::int32_t fused = -1;     // index among the session's compiled nodes, or -1
};
}  // namespace detail

/// The arguments of graph::add_node(). Spans are copied into the model.
struct node_spec {
  std::string_view name, domain, op_type, overload = {}, doc_string = {};
  std::int64_t opset = 0;
  std::span<const value_id> inputs, outputs;  // value_id::none: absent
  std::span<const attribute> attributes = {};
  std::span<graph* const> subgraphs = {};
  std::span<const detail::property> metadata = {};
};

namespace detail {
/// A rewrite of some nodes that an optimizer may apply later, as files in the ORT format store it (runtime
/// optimizations). Node numbers are those of the graph, which is complete without the rewrite.
struct saved_optimization {
  std::string_view optimizer, action;
  // Input nodes, the target, output nodes, and possibly one node between target and output; `none`: absent.
  std::span<const node_id> nodes;
  std::uint32_t inputs = 0, outputs = 0;
  bool variadic_input = false, variadic_output = false;
  std::uint32_t variadic_inputs = 0, variadic_outputs = 0;
  std::span<const std::string_view> produces;  // "domain:op_type:since_version" of the new nodes, in order
};
}  // namespace detail

/// A graph that owns its structure; texts, attributes, types and constants lie in the model that owns the graph. Member
/// functions keep the lists of uses up to date. Not thread-safe while it changes.
class graph {
 public:
  CAMEO_API graph(model& owner, graph* outer);
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  CAMEO_API ~graph();

  std::string_view name, doc_string;
  std::span<const detail::property> metadata;
  std::string_view unknown;                                         // see model::unknown
  std::span<const detail::saved_optimization> saved_optimizations;  // as read or recorded; valid while keeps_saved()
  std::string_view saved_problem;                                   // why the file's optimizations were not read; empty
                                                                    // if none failed

  model& owner() const { return *owner_; }
  /// The graph whose node has this one as an attribute; null for the main graph and bodies of functions.
  graph* outer() const { return outer_; }
  /// The node of outer() that has this graph as an attribute (set when that node is added).
  node_id holder() const { return holder_; }

  std::size_t value_count() const { return value_count_; }
  std::size_t node_capacity() const { return node_count_; }  // removed ones included
  const detail::graph_value& operator[](value_id v) const { return values_[index_of(v)]; }
  detail::graph_value& operator[](value_id v) { return values_[index_of(v)]; }
  const detail::graph_node& operator[](node_id n) const { return nodes_[index_of(n)]; }
  detail::graph_node& operator[](node_id n) { return nodes_[index_of(n)]; }

  /// The inputs in the model's order, including those that are initializers, too.
  CAMEO_API std::span<const value_id> inputs() const;
  /// The outputs, in the model's order.
  CAMEO_API std::span<const value_id> outputs() const;
  /// The values that are initializers.
  CAMEO_API std::span<const value_id> initializers() const;
  /// For a subgraph, the values of outer graphs that it reads.
  CAMEO_API std::span<const value_id> captures() const;
  /// Declares the saved optimizations valid for the present graph; adding or removing a node makes them invalid.
  void hold_saved() { saved_at_ = node_changes_; }
  bool keeps_saved() const { return !saved_optimizations.empty() && saved_at_ == node_changes_; }
  /// The nodes in order of execution, without removed ones; valid after sort().
  CAMEO_API std::span<const node_id> order() const;

  value_id input(node_id n, std::size_t i) const { return edges_[nodes_[index_of(n)].first_edge + i].value; }
  std::size_t input_count(node_id n) const { return nodes_[index_of(n)].input_count; }
  /// The i-th value of this graph that the node's subgraphs read. Captures are additional inputs of the node.
  value_id capture(node_id n, std::size_t i) const {
    return edges_[nodes_[index_of(n)].first_edge + nodes_[index_of(n)].input_count + i].value;
  }

  /// The value's constant, looked up through captures. Null if it is not constant, or if it is an input with a default
  /// that a caller may replace (an initializer that is an input, too, from IR version 4 on).
  CAMEO_API const value* constant_of(value_id) const;

  /// Reserves space for so many more values, nodes and inputs.
  CAMEO_API void reserve(std::size_t values, std::size_t nodes, std::size_t inputs);
  /// Adds a value; `name` is copied into the model. Names are unique within a graph: the caller checks this with
  /// find().
  CAMEO_API value_id add_value(std::string_view name, const value_type* type = nullptr);
  /// Appends a value to the inputs.
  CAMEO_API void add_input(value_id);
  /// Appends a value to the outputs.
  CAMEO_API void add_output(value_id);
  /// Makes a value an initializer. `constant` lives as long as the model.
  CAMEO_API void add_initializer(value_id, const value* constant);
  /// Makes a value that was an initializer an ordinary value. Its `constant` stays.
  CAMEO_API void remove_initializer(value_id);
  /// Removes initializers that have no uses and are neither inputs nor outputs. Returns true if there were any.
  CAMEO_API bool remove_unused_initializers();
  /// Replaces the whole list of outputs.
  CAMEO_API void set_outputs(std::span<const value_id>);

  /// Appends a node. It becomes the producer of its outputs; the captures of its subgraphs become its captures.
  CAMEO_API node_id add_node(const node_spec&);
  /// Removes a node. Its outputs stay as values without a producer, which another node may produce.
  CAMEO_API void remove_node(node_id);
  /// Replaces one input; with `none` it becomes absent.
  CAMEO_API void set_input(node_id, std::size_t i, value_id);
  /// Replaces all inputs.
  CAMEO_API void set_inputs(node_id, std::span<const value_id>);
  /// Replaces all attributes; they are copied into the model.
  CAMEO_API void set_attributes(node_id, std::span<const attribute>);
  /// Makes `v` (which has no other producer, or is `none`) the node's i-th output. The old output stays as a value
  /// without a producer.
  CAMEO_API void set_output(node_id, std::size_t i, value_id v);
  /// Replaces every use of `from` by a node, also in subgraphs that capture it, by `to`. Graph outputs stay.
  CAMEO_API void replace_uses(value_id from, value_id to);
  /// The capture of `outer`, a value of outer(). Creates it if there is none; it then becomes a capture of the holder,
  /// too.
  CAMEO_API value_id capture_of(value_id outer);
  /// Moves this graph from a node of outer() to a node of another graph of the model; add_node() attaches it there.
  /// `captured` are the values of that graph that the captures() become, in their order. The node that it leaves keeps
  /// its captures, and has to be removed.
  CAMEO_API void move_to(graph& outer, std::span<const value_id> captured);

  /// The value with this name in this graph (not in outer graphs); `none` if there is none.
  CAMEO_API value_id find(std::string_view name) const;
  /// The value of this graph for a name of this or an outer graph, which is captured level by level; `none` if there is
  /// none.
  CAMEO_API value_id resolve(std::string_view name);
  /// A name that starts with `stem` and is unused in this graph.
  CAMEO_API std::string_view unique_name(std::string_view stem);

  /// Brings order() up to date: a stable topological sort. INVALID_GRAPH, with a node's name, if there is a cycle.
  CAMEO_API status sort();

  /// A use of a value: a node, and a position in its inputs, then captures. The order of uses is unspecified.
  struct use {
    node_id node;
    std::uint32_t position;
  };
  class use_range;
  /// The uses of a value by nodes of this graph.
  use_range uses(value_id v) const;

 private:
  struct edge {
    value_id value;
    node_id node;
    std::uint32_t next, previous;
  };
  friend class use_range;
  CAMEO_API value_id append(const detail::graph_value&);
  CAMEO_API void link(std::uint32_t edge);
  CAMEO_API void unlink(std::uint32_t edge);
  CAMEO_API std::uint32_t append_edge(node_id, value_id);
  CAMEO_API void move_edges_to_end(node_id, std::span<const value_id> inputs);
  CAMEO_API std::uint32_t find_capture_edge(node_id, value_id) const;
  CAMEO_API void add_capture_edge(node_id, value_id);
  CAMEO_API void drop_capture_edge(node_id, value_id);
  CAMEO_API void recapture(value_id from, value_id to);
  CAMEO_API bool is_sorted() const;
  CAMEO_API status cycle_error(std::span<const std::uint32_t> waits) const;

  model* owner_;
  graph* outer_;
  node_id holder_ = node_id::none;
  std::size_t node_changes_ = 0, saved_at_ = 0;  // counts additions and removals of nodes
  // The lists are in graph.cpp; these are pointers to their first elements, for the inline functions above.
  struct lists;
  detail::owned<lists> lists_;
  detail::graph_value* values_ = nullptr;
  detail::graph_node* nodes_ = nullptr;
  edge* edges_ = nullptr;
  std::size_t value_count_ = 0, node_count_ = 0;
};

namespace detail {
/// A forward iterator of a range: a place in it. The range makes the item at a place, `item(place)`, and the place
/// after it, `next(place)`; it must outlive the iterator.
template <class Range, class Place>
class place_iterator {
 public:
  using value_type = decltype(std::declval<const Range&>().item(std::declval<const Place&>()));
  using difference_type = std::ptrdiff_t;
  place_iterator() = default;
  place_iterator(const Range& range, Place at) : range_{&range}, at_{at} {}
  value_type operator*() const { return range_->item(at_); }
  place_iterator& operator++() { return at_ = range_->next(at_), *this; }
  place_iterator operator++(int) {
    place_iterator was = *this;
    ++*this;
    return was;
  }
  bool operator==(const place_iterator& other) const { return at_ == other.at_; }

 private:
  const Range* range_ = nullptr;
  Place at_{};
};
}  // namespace detail

/// Forward range over the uses of one value.
class graph::use_range {
 public:
  using iterator = detail::place_iterator<use_range, std::uint32_t>;
  use_range(const graph& g, std::uint32_t first) : graph_{&g}, first_{first} {}
  iterator begin() const { return {*this, first_}; }
  iterator end() const { return {*this, 0xFFFFFFFF}; }
  bool empty() const { return first_ == 0xFFFFFFFF; }
  /** Returns the use with this index. */ use item(std::uint32_t at) const {
    const edge& e = graph_->edges_[at];
    return {e.node, at - (*graph_)[e.node].first_edge};
  }
  std::uint32_t next(std::uint32_t at) const { return graph_->edges_[at].next; }

 private:
  const graph* graph_;
  std::uint32_t first_;
};
inline graph::use_range graph::uses(value_id v) const { return {*this, (*this)[v].first_edge}; }

}  // namespace CAMEO_NAMESPACE
