#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/graph/views.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

namespace detail {
/// A copy of a graph's order, for loops that change the graph.
inline std::vector<node_id> ordered_nodes(const graph& g) { return {g.order().begin(), g.order().end()}; }
}  // namespace detail

/// Computes the outputs of a node whose inputs are constant (an absent input is an empty value), in `memory`.
/// NOT_IMPLEMENTED if it cannot run that node.
using evaluate_ref = detail::function_ref<result<std::span<const value>>(const node_view&, arena& memory)>;

/// The graph that a rule or a pass changes, and the facts about it that they may rely on. For one graph (each subgraph
/// has a separate rewriter) and one thread.
class rewriter {
 public:
  /// What a rewriter works with; all of it outlives the rewriter. `takes` is called for every new node. `provider` -1
  /// means before partitioning, when all nodes may be changed; otherwise only nodes of that provider.
  struct surroundings {
    const op_table& ops;
    evaluate_ref evaluate;
    detail::function_ref<bool(const node_view&)> takes;
    std::int32_t provider = -1;
    bool keeps_quantized = false;  // do not fold DequantizeLinear of a constant, which a group may need
  };
  rewriter(graph& g, const surroundings& around) : graph_{g}, around_{around} {}
  rewriter(const rewriter&) = delete;
  rewriter& operator=(const rewriter&) = delete;

  graph& in() const { return graph_; }
  model& owner() const { return graph_.owner(); }
  const surroundings& around() const { return around_; }
  node_view node(node_id n) const { return {graph_, n}; }
  value_view at(value_id v) const { return {graph_, v}; }

  /// True if this node may be changed or removed.
  bool may_touch(const node_view& n) const {
    return n && !n.raw().removed && n.raw().fused < 0 && n.provider() == around_.provider;
  }
  /// The value's constant, also through captures, or null. In host memory; large ones may be unaligned, so read
  /// elements by memcpy, as the functions below do.
  const value* constant(const value_view& v) const { return v ? graph_.constant_of(v.id()) : nullptr; }
  /// The known elements of a small integer tensor, constant or computed from shapes; null if even their number is
  /// unknown. Covers nodes that existed at the last refresh(), which the first call may do.
  CAMEO_API const std::vector<dim>* elements(const value_view& v);
  /// The dims of a tensor; null when even the rank is unknown.
  const std::vector<dim>* shape(const value_view& v) const {
    const value_type* const t = v ? v.type() : nullptr;
    return t && t->is_tensor() && t->shape ? &*t->shape : nullptr;
  }
  /// Removes a node that has no uses, then nodes that only it used; graph outputs stay. Appends the nodes to `gone`.
  CAMEO_API void prune(node_id, std::vector<node_id>* gone = nullptr);
  /// Removes all nodes that no graph output depends on. Returns true if there were any.
  CAMEO_API bool remove_dead();
  /// Brings order, types and elements up to date, for passes that have changed much.
  CAMEO_API status refresh();

  /// Marks a new node, or a value whose readers changed, so that rewrites are tried there again. An edit marks its own
  /// changes.
  void touch(node_id n) { touched_nodes_.push_back(n); }
  void touch(value_id v) { touched_values_.push_back(v); }
  /// Appends what was marked since the last call: new nodes, and readers of values.
  CAMEO_API void take_touched(std::deque<node_id>& to);

 private:
  graph& graph_;
  surroundings around_;
  known_elements elements_;
  bool elements_known_ = false;
  std::vector<node_id> touched_nodes_;
  std::vector<value_id> touched_values_;
};

/// A change of a graph, all or nothing. New nodes are added at once, and replace old values on commit(). Without
/// commit() the destructor removes them.
///
///   edit e{r, old};                       // new nodes are named and placed after this node, with its opset
///   const value_id y = e.add<op::Gemm>({a, b, c}, {attribute_of("transB", 1)});
///   e.replace(old.output(0), y);
///   return e.commit();
class edit {
 public:
  edit(rewriter& r, const node_view& origin) : rewriter_{r}, origin_{origin.id()} {}
  edit(const edit&) = delete;
  edit& operator=(const edit&) = delete;
  ~edit() { abandon(); }

  /// Takes names and opsets of nodes that are added later from this node instead.
  void follow(const node_view& origin) { origin_ = origin.id(); }

  /// Adds a constant to the graph; `made` is copied with its elements. Returns `none` for kinds that cannot be
  /// initializers; commit() then returns false. Throws std::bad_alloc when memory is full, as all functions of an edit;
  /// loading then ends.
  CAMEO_API value_id constant(std::string_view stem, const value& made);
  /// A constant with a few numbers: a vector.
  CAMEO_API value_id ints(std::string_view stem, std::span<const std::int64_t>);
  CAMEO_API value_id scalar(std::string_view stem, dtype type, double number);  // a constant scalar of a float or
                                                                                // integer type

  /// Adds a node, in the operator's version at the origin's opset (for other domains such as com.microsoft, at the
  /// model's import, or the first). Returns its first output; `none` when the operator is newer than that.
  template <declared_op Op>
  value_id add(std::span<const value_id> inputs, std::span<const attribute> attributes = {}, std::size_t outputs = 1) {
    return add(Op::domain, Op::name, inputs, attributes, outputs);
  }
  template <declared_op Op>
  value_id add(std::initializer_list<value_id> inputs, std::initializer_list<attribute> attributes = {},
               std::size_t outputs = 1) {
    return add(Op::domain, Op::name, {inputs.begin(), inputs.size()}, {attributes.begin(), attributes.size()}, outputs);
  }
  CAMEO_API value_id add(std::string_view domain, std::string_view op, std::span<const value_id> inputs,
                         std::span<const attribute> attributes, std::size_t outputs = 1);
  /// The i-th output of the last node that add() made.
  CAMEO_API value_id output(std::size_t i) const;

  /// On commit(), readers of `old` will read `now` instead, a new or an earlier value. A graph output keeps its name.
  void replace(const value_view& old, value_id now) { replaced_.push_back({old.id(), now}); }

  /// Checks every new node against its operator, infers its types, and checks that the provider takes it; then rewires
  /// the graph and removes nodes without uses. New nodes get the layer annotation (`layer_ann`, docs/placement.md) that
  /// the removed nodes share. Returns false, without a change, if a new node is illegal, has another element type or
  /// shape than what it replaces, or is not taken, or if a graph output cannot keep its name.
  CAMEO_API bool commit();
  /// True if commit() would succeed. Afterwards new nodes have their operator's version and types.
  CAMEO_API bool possible() const;
  /// The nodes that were added, in order.
  std::span<const node_id> added() const { return added_; }

 private:
  struct exchange {
    value_id old, now;
  };
  CAMEO_API bool fits(const exchange&) const;
  CAMEO_API bool can_take_name(const exchange&) const;
  CAMEO_API void rewire(const exchange&, std::vector<node_id>& gone);
  CAMEO_API void abandon();

  rewriter& rewriter_;
  node_id origin_;
  std::vector<node_id> added_;
  std::vector<value_id> constants_;
  std::vector<exchange> replaced_;
  bool bad_ = false, done_ = false;
};

/// An attribute for new nodes. Texts and lists are copied when the node is added.
constexpr attribute attribute_of(std::string_view name, std::int64_t i) {
  attribute a{name, attribute_kind::i};
  a.i = i;
  return a;
}
constexpr attribute attribute_of(std::string_view name, int i) { return attribute_of(name, std::int64_t(i)); }
constexpr attribute attribute_of(std::string_view name, float f) {
  attribute a{name, attribute_kind::f};
  a.f = f;
  return a;
}
constexpr attribute attribute_of(std::string_view name, std::string_view s) {
  attribute a{name, attribute_kind::s};
  a.s = s;
  return a;
}
constexpr attribute attribute_of(std::string_view name, std::span<const std::int64_t> ints) {
  attribute a{name, attribute_kind::ints};
  a.ints = ints;
  return a;
}
constexpr attribute attribute_of(std::string_view name, std::span<const float> floats) {
  attribute a{name, attribute_kind::floats};
  a.floats = floats;
  return a;
}

// Facts about constants, for rules.

/// The number in a constant with one element, of any rank and number type; std::nullopt for other values.
CAMEO_API std::optional<double> number_of(const value*);
/// The elements of an integer constant of any rank; std::nullopt for other values, and for more than 4,096 elements.
CAMEO_API std::optional<std::vector<std::int64_t>> ints_of(const value*);
/// True if all elements of a float32 or integer constant equal this number; false without elements.
CAMEO_API bool all_equal(const value*, double number);

}  // namespace CAMEO_NAMESPACE
