#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/graph/views.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

CAMEO_BEGIN_NAMESPACE

/// Computes the outputs of a node whose inputs are constants (an absent one is no value), in `memory`.
/// NOT_IMPLEMENTED when it can't run that node.
using evaluate_ref = detail::function_ref<result<std::span<const value>>(const node_view&, arena& memory)>;

/// What a rule or a pass can use of the graph that it changes, and the facts that it may rely on. One graph at a time
/// (subgraphs are graphs of their own), one thread.
class rewriter {
 public:
  /// All of these outlive the rewriter. `takes` is called for every new node; `provider` -1: before partitioning, all
  /// nodes may be touched; otherwise only those of that provider.
  struct surroundings {
    const op_table& ops;
    evaluate_ref evaluate;
    detail::function_ref<bool(const node_view&)> takes;
    std::int32_t provider = -1;
    bool keeps_quantized = false;  // DequantizeLinear of a constant is not folded, as a group may need it
  };
  rewriter(graph& g, const surroundings& around) : graph_{g}, around_{around} {}
  rewriter(const rewriter&) = delete;
  rewriter& operator=(const rewriter&) = delete;

  graph& in() const { return graph_; }
  model& owner() const { return graph_.owner(); }
  const surroundings& around() const { return around_; }
  node_view node(node_id n) const { return {graph_, n}; }
  value_view at(value_id v) const { return {graph_, v}; }

  /// True if this node may be changed or removed here.
  bool may_touch(const node_view& n) const {
    return n && !n.raw().removed && n.raw().fused < 0 && n.provider() == around_.provider;
  }
  /// The value's constant, or null; also of captures. In host memory; large ones may be unaligned: read
  /// elements by memcpy, as the facts below do.
  const value* constant(const value_view& v) const { return v ? graph_.constant_of(v.id()) : nullptr; }
  /// Known elements of a small integer tensor, constant or computed from shapes; null if even their number is unknown.
  /// Of nodes that existed at the last refresh(); the first call may do a refresh().
  CAMEO_API const std::vector<dim>* elements(const value_view& v);
  /// The dims of a tensor, or null when even the rank is unknown.
  const std::vector<dim>* shape(const value_view& v) const {
    const value_type* const t = v ? v.type() : nullptr;
    return t && t->is_tensor() && t->shape ? &*t->shape : nullptr;
  }
  /// Removes a node without uses, then nodes that only it used; graph outputs stay. Appends those to `gone`.
  CAMEO_API void prune(node_id, std::vector<node_id>* gone = nullptr);
  /// Removes all nodes that no graph output depends on. True if there were any.
  CAMEO_API bool remove_dead();
  /// Brings order, types and elements up to date; useful inside a pass that has changed much.
  CAMEO_API status refresh();

  /// Marks a node as new, or a value as having other readers than before: rewrites are tried there again. An edit marks
  /// its own changes.
  void touch(node_id n) { touched_nodes_.push_back(n); }
  void touch(value_id v) { touched_values_.push_back(v); }
  /// Appends what was touched since the last call: new nodes, and readers of values.
  CAMEO_API void take_touched(std::deque<node_id>& to);

 private:
  graph& graph_;
  surroundings around_;
  known_elements elements_;
  bool elements_known_ = false;
  std::vector<node_id> touched_nodes_;
  std::vector<value_id> touched_values_;
};

/// One change of a graph, all or nothing: new nodes are added, and replace old values on commit(). Without a commit()
/// they are removed when the edit is destroyed.
///
///   edit e{r, old};                       // new nodes are named, numbered and placed after this node
///   const value_id y = e.add<op::Gemm>({a, b, c}, {attribute_of("transB", 1)});
///   e.replace(old.output(0), y);
///   return e.commit();
class edit {
 public:
  edit(rewriter& r, const node_view& origin) : to_{r}, origin_{origin.id()} {}
  edit(const edit&) = delete;
  edit& operator=(const edit&) = delete;
  ~edit() { abandon(); }

  /// Nodes that are added from here on are named and numbered after this node instead.
  void follow(const node_view& origin) { origin_ = origin.id(); }

  /// A constant of the graph; `made` is copied with its elements. `none` for a kind that can't be an initializer:
  /// commit() then returns false. Throws std::bad_alloc where memory is full, as all of an edit does; loading then
  /// ends.
  CAMEO_API value_id constant(std::string_view stem, const value& made);
  /// The same for a few numbers: a vector, or a scalar.
  CAMEO_API value_id ints(std::string_view stem, std::span<const std::int64_t>);
  CAMEO_API value_id scalar(std::string_view stem, dtype type, double number);  // float types and integers

  /// A node of an operator in the version of the origin's opset (com.microsoft and others: the model's import, or
  /// the first). Returns its first output; `none` when the operator is newer than that.
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

  /// On commit, readers of `old` read `now` instead: a new value, or one that existed before. A graph output
  /// keeps its name.
  void replace(const value_view& old, value_id now) { replaced_.push_back({old.id(), now}); }

  /// Checks every new node against its operator, infers its types, checks that the provider takes it; then rewires the
  /// graph and removes nodes without uses. New nodes belong to the part of the model (`layer_ann`, docs/placement.md)
  /// that the removed ones belonged to, if these agree. False, with nothing changed, if a new node is not legal, has
  /// another element type or shape than what it replaces, or is not taken; or if a graph output can't keep its name.
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

  rewriter& to_;
  node_id origin_;
  std::vector<node_id> added_;
  std::vector<value_id> constants_;
  std::vector<exchange> replaced_;
  bool bad_ = false, done_ = false;
};

/// Attributes for new nodes. Texts and lists are copied when the node is added.
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

// Facts about nodes and constants that rules use.

/// An attribute of a node, or its operator's default in the node's version, or `otherwise`.
CAMEO_API std::int64_t int_attribute(const node_view&, std::string_view name, std::int64_t otherwise = 0);
/// See int_attribute().
CAMEO_API float float_attribute(const node_view&, std::string_view name, float otherwise = 0);
/// See int_attribute().
CAMEO_API std::string_view string_attribute(const node_view&, std::string_view name, std::string_view otherwise = {});
/// See int_attribute(); empty where the node leaves it out.
CAMEO_API std::span<const std::int64_t> ints_attribute(const node_view&, std::string_view name);
/// The number in a constant of one element (any rank, any number type); std::nullopt for others.
CAMEO_API std::optional<double> number_of(const value*);
/// The elements of an integer constant (any rank); std::nullopt for others, or more than 4,096.
CAMEO_API std::optional<std::vector<std::int64_t>> ints_of(const value*);
/// True if all elements of a float32 or integer constant equal this number (false without elements).
CAMEO_API bool all_equal(const value*, double number);

CAMEO_END_NAMESPACE
