// Removes transposes that cancel, or that would if the nodes between them worked on axes in another order.
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/standard.hpp>

#include "graph/messages.hpp"
#include "graph/placement.hpp"
#include "graph/types.hpp"
#include "transform/rules/axis_order.hpp"
#include "transform/rules/look.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace CAMEO_NAMESPACE {
namespace {

std::optional<axis_order> order_of(rewriter& r, const node_view& transpose) {
  const std::vector<dim>* const shape = r.shape(transpose.input(0));
  if (!shape || shape->empty() || shape->size() > max_rank) return {};
  const attribute_list<std::int64_t> perm = transpose.attributes<op::Transpose>().perm;
  if (!perm.given) {
    std::vector<std::int64_t> reversed;
    for (std::size_t i = shape->size(); i-- > 0;) reversed.push_back(std::int64_t(i));
    return axis_order::read(reversed);
  }
  return perm.size() == shape->size() ? axis_order::read(perm) : std::nullopt;
}

using namespace pattern;

/// The order of two transposes in sequence; std::nullopt if one of them is unknown.
std::optional<axis_order> order_of_both(rewriter& r, const node_view& first, const node_view& second) {
  const std::optional<axis_order> p = order_of(r, first), q = order_of(r, second);
  return p && q ? std::optional{p->then(*q)} : std::nullopt;
}
bool undo_each_other(const match_result& m, const node_view& first, const node_view& second) {
  const std::optional<axis_order> both = order_of_both(*m.in, first, second);
  return both && both->changes_nothing();
}
bool perm_of_both(const match_result& m, attribute& made) {
  const std::optional<axis_order> both = order_of_both(*m.in, n1.get(m), n0.get(m));
  if (!both) return false;
  const std::vector<std::int64_t> perm = both->perm();
  made = attribute_of({}, or_throw(m.in->owner().memory.copy(std::span<const std::int64_t>{perm})));
  return true;
}
constexpr rule transposed_back{"TransposeOptimizer", name(n0, match<op::Transpose>(name(n1, match<op::Transpose>(x)))),
                               x, when(check<undo_each_other>(n1, n0))};
constexpr rule transposed_twice{"TransposeOptimizer",
                                name(n0, match<op::Transpose>(name(n1, sole_use(match<op::Transpose>(x))))),
                                make<op::Transpose>(x).attr<"perm", perm_of_both>()};

/// A Reshape, elementwise operations, another Reshape: moves the first one behind the operations, next to the other, so
/// that both may become one.
struct reshape_behind {
  static constexpr std::string_view name = "ReshapePushThrough";
  using roots = op_set<op::Reshape, op::Flatten, op::Squeeze, op::Unsqueeze>;
  static bool rewrite(rewriter& r, const node_view& n) {
    constexpr std::size_t most = 8;
    std::vector<node_view> between;
    node_view first = n;
    for (value_view v = n.input(0); between.size() <= most; v = first.input(0)) {
      first = v && !v.is_capture() && v.sole_use() ? v.producer() : node_view{};
      if (!first || !r.may_touch(first) || look::has_further_outputs(first)) return false;
      if (!maps_elements(first)) break;
      between.push_back(first);
    }
    if (between.empty() || between.size() > most || !first.has_role(role::reshapes)) return false;
    edit e{r, n};
    value_id v = first.input(0).id();
    for (auto at = between.rbegin(); at != between.rend(); ++at) v = again(e, *at, v);
    e.replace(n.output(0), again(e, n, again(e, first, v)));
    return e.commit();
  }

 private:
  static value_id again(edit& e, const node_view& n, value_id data) {
    std::vector<value_id> inputs;
    for (value_view v : n.inputs()) inputs.push_back(v.id());
    inputs[0] = data;
    return e.add(n.domain(), n.op_type(), inputs, n.raw().attributes);
  }
};

/// A part of the graph whose values could have another axis order: nodes that support it, with all that they read and
/// make. Its gain is the number of transposes that it saves.
class region {
 public:
  enum class growth { all, down, up };
  region(rewriter& r, growth how, std::size_t& budget) : r_{r}, how_{how}, budget_{budget} {}

  /// Adds all that needs another order because `v` has order q.
  void grow(value_id v, const axis_order& q) {
    add(v, q);
    for (std::size_t at = 0; at < queue_.size() && budget_ > 0; ++at) {
      const value_view value = r_.at(queue_[at]);
      const axis_order order = values_.at(queue_[at]);
      --budget_;
      if (how_ != growth::up) {
        for (graph::use u : r_.in().uses(value.id())) {
          if (budget_ > 0) --budget_;
          const node_view n = r_.node(u.node);
          if (is_free(n) && u.position < n.input_count() && !inside_.contains(u.node))
            if (const auto orders = orders_from_input(r_, n, u.position, order)) include(n, *orders);
        }
      }
      if (how_ == growth::down || value.is_capture() || value.is_graph_input()) continue;
      const node_view n = value.producer();
      if (n && is_free(n) && !inside_.contains(n.id()))
        if (const auto orders = orders_from_output(r_, n, order)) include(n, *orders);
    }
  }

  struct gain {
    std::int64_t transposes = 0, moves_of_nothing = 0;
    bool worth_it() const { return transposes > 0 || (transposes == 0 && moves_of_nothing > 0); }
    void count(std::int64_t change, bool nothing) { (nothing ? moves_of_nothing : transposes) += change; }
  };
  gain worth() const {
    gain all;
    if (nodes_.empty()) return all;
    std::unordered_set<value_id> entries;
    for (const auto& [id, orders] : nodes_) {
      const node_view n = r_.node(id);
      for (std::size_t i = 0; i < data_inputs(n); ++i)
        if (!is_stretched(r_, n, i) && !is_made_inside(n.input(i)) && entries.insert(n.input(i).id()).second)
          count_entry(n.input(i), orders.in, all);
      for (value_view v : n.outputs())
        if (v) count_exit(v, orders.out, all);
    }
    return all;
  }
  const std::vector<std::pair<node_id, node_orders>>& nodes() const { return nodes_; }
  const std::unordered_map<value_id, axis_order>& values() const { return values_; }
  bool is_made_inside(const value_view& v) const {
    return !v.is_capture() && v.producer() && inside_.contains(v.producer().id());
  }
  /// True if the use is of data whose order changes with the region.
  bool follows(graph::use u) const {
    const node_view n = r_.node(u.node);
    return inside_.contains(u.node) && u.position < data_inputs(n) && !is_stretched(r_, n, u.position);
  }
  static bool may_copy(const value& c, const value_view& v) {
    constexpr std::size_t most = std::size_t{1} << 20;
    return c.kind == value_kind::tensor && c.memory == 0 && c.type != dtype::string &&
           detail::row_of(c.type).bits % 8 == 0 && (v.sole_use() || c.bytes() <= most);
  }

 private:
  bool is_free(const node_view& n) const { return r_.may_touch(n) && !n.has_op<op::Transpose>(); }
  void add(value_id v, const axis_order& q) {
    if (values_.emplace(v, q).second && !q.changes_nothing()) queue_.push_back(v);
  }
  bool agrees(const value_view& v, const axis_order& q) const {
    const auto found = values_.find(v.id());
    return found == values_.end() || found->second == q;
  }

  bool can_reorder_input(const node_view& n, std::size_t i, const axis_order& q) const {
    const value_view v = n.input(i);
    if (is_stretched(r_, n, i)) return can_stretch(v, q);
    return agrees(v, q) && (how_ != growth::down || values_.contains(v.id()) || is_free_entry(v, q));
  }
  /// Adds a node, unless a value would need two orders.
  void include(const node_view& n, const node_orders& orders) {
    for (std::size_t i = 0; i < data_inputs(n); ++i)
      if (!can_reorder_input(n, i, orders.in)) return;
    for (value_view v : n.outputs()) {
      if (!v) continue;
      if (!agrees(v, orders.out) || !r_.shape(v)) return;
      if (how_ == growth::up && !values_.contains(v.id())) return;
    }
    if (how_ == growth::up && !all_read_inside(n, orders.out)) return;
    inside_.insert(n.id());
    nodes_.emplace_back(n.id(), orders);
    for (value_view v : n.outputs())
      if (v) add(v.id(), orders.out);
    for (std::size_t i = 0; i < data_inputs(n); ++i)
      if (const value_view v = n.input(i); !is_stretched(r_, n, i) && !r_.constant(v)) add(v.id(), orders.in);
  }
  /// True if the node's outputs are read only by nodes of the region and by transposes that are removed, so that the
  /// region may grow upwards to this node.
  bool all_read_inside(const node_view& n, const axis_order& q) const {
    for (value_view v : n.outputs()) {
      if (!v) continue;
      if (v.is_graph_output()) return false;
      for (graph::use u : r_.in().uses(v.id()))
        if (!follows(u) && order_of_reader(u) != q) return false;
    }
    return true;
  }
  /// The order of a Transpose that reads a value; std::nullopt for other readers.
  std::optional<axis_order> order_of_reader(graph::use u) const {
    const node_view n = r_.node(u.node);
    return n.has_op<op::Transpose>() && r_.may_touch(n) && u.position == 0 ? order_of(r_, n) : std::nullopt;
  }
  bool is_free_entry(const value_view& v, const axis_order& q) const {
    if (const value* const c = r_.constant(v)) return may_copy(*c, v);
    const node_view t = look::made_by<op::Transpose>(r_, v);
    const std::optional<axis_order> p = t ? order_of(r_, t) : std::nullopt;
    return p && p->then(q).changes_nothing();
  }
  /// A value with fewer axes needs no transpose if it is a constant, or if its axes keep their sequence.
  bool can_stretch(const value_view& v, const axis_order& q) const {
    if (const value* const c = r_.constant(v); c && may_copy(*c, v)) return true;
    std::vector<dim> full(q.rank() - r_.shape(v)->size(), dim::fixed(1));
    full.resize(q.rank());  // of any size: no axis of the value may pass another
    return q.moves_nothing_in(full);
  }

  void count_entry(const value_view& v, const axis_order& q, gain& all) const {
    if (q.changes_nothing()) return;
    if (const value* const c = r_.constant(v); c && may_copy(*c, v)) return;
    const bool nothing = q.moves_nothing_in(*r_.shape(v));
    const node_view t = look::made_by<op::Transpose>(r_, v);
    const std::optional<axis_order> p = t ? order_of(r_, t) : std::nullopt;
    if (!p) return all.count(-1, nothing);
    bool goes = !v.is_graph_output();
    for (graph::use u : r_.in().uses(v.id())) goes = goes && follows(u);
    if (goes) all.count(1, p->moves_nothing_in(*r_.shape(t.input(0))));
    const axis_order both = p->then(q);
    if (!both.changes_nothing()) all.count(-1, both.moves_nothing_in(*r_.shape(t.input(0))));
  }

  void count_exit(const value_view& v, const axis_order& q, gain& all) const {
    if (q.changes_nothing()) return;
    bool needed = v.is_graph_output(), named = false;
    for (graph::use u : r_.in().uses(v.id())) {
      if (follows(u)) continue;
      const node_view n = r_.node(u.node);
      const std::optional<axis_order> p = order_of_reader(u);
      if (p == q && n.output(0).is_graph_output() && named) {
        needed = true;  // one value cannot be two outputs of the graph
      } else if (p == q) {
        named = named || n.output(0).is_graph_output();
        all.count(1, p->moves_nothing_in(*r_.shape(v)));
      } else if (p) {
        const axis_order both = q.inverse().then(*p);  // the transpose stays, but may no longer be free
        const std::vector<dim> moved = q.apply(*r_.shape(v));
        if (p->moves_nothing_in(*r_.shape(v)) && !both.moves_nothing_in(moved)) all.count(-1, false);
      } else if (!is_shape_query(r_, n)) {
        needed = true;
      }
    }
    if (needed) all.count(-1, q.moves_nothing_in(*r_.shape(v)));
  }

 public:
  /// True for a Shape of all axes, whose result can be reordered.
  static bool is_shape_query(rewriter& r, const node_view& n) { return r.may_touch(n) && look::is_whole_shape(n); }

 private:
  rewriter& r_;
  growth how_;
  std::size_t& budget_;
  std::unordered_map<value_id, axis_order> values_;
  std::vector<value_id> queue_;
  std::unordered_set<node_id> inside_;
  std::vector<std::pair<node_id, node_orders>> nodes_;
};

/// Gives the values of a region their new order.
class reordering {
 public:
  reordering(rewriter& r, const region& whole, std::int64_t opset) : r_{r}, g_{r.in()}, region_{whole}, opset_{opset} {}

  void apply() {
    for (const auto& [id, orders] : region_.nodes()) placement_.add(g_, id);
    for (const auto& [id, orders] : region_.nodes()) read(id, orders.in);
    for (const auto& [id, orders] : region_.nodes()) {
      if (!orders.in.changes_nothing() || !orders.out.changes_nothing()) reorder_node(r_, id, orders);
      make_outputs(id, orders.out);
    }
    for (const wire& each : wires_)
      g_.set_input(each.node, each.input, each.now != value_id::none ? each.now : made_.at(each.old));
    for (value_id v : leaving_) leave(v);
    for (const wire& each : wires_)
      if (each.now != value_id::none && !r_.at(each.old).is_capture()) r_.prune(g_[each.old].producer);
  }

 private:
  /// An input that will read another value: `now`, or the new value for `old`.
  struct wire {
    node_id node;
    std::size_t input;
    value_id old, now;
  };

  void read(node_id id, const axis_order& q) {
    if (q.changes_nothing()) return;
    const node_view n = r_.node(id);
    for (std::size_t i = 0; i < data_inputs(n); ++i) {
      const value_view v = n.input(i);
      const bool stretched = is_stretched(r_, n, i);
      if (!stretched && region_.is_made_inside(v)) {
        wires_.push_back({id, i, v.id(), value_id::none});
        continue;
      }
      const auto [at, is_new] = entries_.emplace(std::pair{v.id(), q.perm()}, v.id());
      if (is_new) at->second = stretched ? stretch(v, q) : entry(v, q);
      wires_.push_back({id, i, v.id(), at->second});
    }
  }
  value_id fresh(const value_view& like, const axis_order& q) {
    value_type moved = *like.type();
    moved.shape = q.apply(*moved.shape);
    const std::string_view stem = like.name().empty() ? std::string_view{"reordered"} : like.name();
    return g_.add_value(g_.unique_name(stem), r_.owner().keep(std::move(moved)));
  }
  void add(std::string_view op, const std::vector<value_id>& in, value_id out, std::vector<attribute> attributes = {}) {
    for (attribute& a : attributes) a.ints = or_throw(r_.owner().memory.copy(a.ints));
    const std::vector<value_id> outputs{out};
    const std::string_view stem = g_[out].name.empty() ? op : g_[out].name;
    node_spec spec{g_.unique_name(stem), "", op, {}, {}, opset_, {}, {}};
    spec.inputs = in, spec.outputs = outputs, spec.attributes = attributes;
    const node_id n = g_.add_node(spec);
    g_[n].provider = r_.around().provider;
    if (placement_.has_annotation()) set_placement(r_.owner(), g_[n], placement_.agreed());
    static_cast<void>(
        is_possible(resolve_and_check_node(g_, n, r_.around().ops)));  // standard operators are always legal
  }
  void add_transpose(value_id from, value_id to, const axis_order& q) {
    add("Transpose", {from}, to, {attribute_of("perm", q.perm())});
  }

  /// A copy of a constant with its elements in another order.
  value_id constant_in(const value& c, std::string_view stem, const extents& shape, const axis_order& q) {
    const std::size_t bytes = detail::row_of(c.type).bits / 8, count = std::size_t(shape.count());
    auto* const to = static_cast<std::byte*>(r_.owner().memory.allocate(count * bytes + 1, 64));
    if (!to) throw std::bad_alloc{};
    const auto* const from = static_cast<const std::byte*>(c.data);
    const extents strides = row_major_strides(shape);
    extents moved, steps, at;
    for (std::size_t i = 0; i < q.rank(); ++i) moved.push_back(shape[q[i]]), steps.push_back(strides[q[i]]);
    at.resize(q.rank(), 0);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(to + i * bytes, from + std::size_t(offset) * bytes, bytes);
      for (std::size_t axis = q.rank(); axis-- > 0;) {
        offset += steps[axis];
        if (++at[axis] < moved[axis]) break;
        offset -= steps[axis] * moved[axis];
        at[axis] = 0;
      }
    }
    const value* const held = r_.owner().memory.keep(value::tensor(c.type, moved, to));
    if (!held) throw std::bad_alloc{};
    const value_id v = g_.add_value(g_.unique_name(stem.empty() ? "reordered" : stem), r_.owner().keep(type_of(*held)));
    g_.add_initializer(v, held);
    return v;
  }

  /// A value from outside the region, in the new order.
  value_id entry(const value_view& v, const axis_order& q) {
    if (const value* const c = r_.constant(v); c && region::may_copy(*c, v))
      return constant_in(*c, v.name(), c->shape, q);
    const node_view t = look::made_by<op::Transpose>(r_, v);
    const std::optional<axis_order> p = t ? order_of(r_, t) : std::nullopt;
    const axis_order both = p ? p->then(q) : q;
    const value_id from = p ? t.input(0).id() : v.id();
    if (both.changes_nothing()) return from;
    const value_id made = fresh(v, q);
    add_transpose(from, made, both);
    return made;
  }
  value_id stretch(const value_view& v, const axis_order& q) {
    std::vector<dim> shape = *r_.shape(v);
    const std::size_t missing = q.rank() - shape.size();
    if (const value* const c = r_.constant(v); c && region::may_copy(*c, v)) {
      if (c->shape.count() == 1) return v.id();
      extents full = c->shape;
      for (std::size_t i = 0; i < missing; ++i) full.insert(0, 1);
      return constant_in(*c, v.name(), full, q);
    }
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < q.rank(); ++i)
      if (q[i] < missing) axes.push_back(std::int64_t(i));
    shape.insert(shape.begin(), missing, dim::fixed(1));
    const value_id made =
        g_.add_value(g_.unique_name("stretched"), r_.owner().keep(value_type::tensor(v.element(), q.apply(shape))));
    if (opset_ < 13) add("Unsqueeze", {v.id()}, made, {attribute_of("axes", std::span<const std::int64_t>{axes})});
    else add("Unsqueeze", {v.id(), add_ints(r_, "axes", axes)}, made);
    return made;
  }

  /// Makes outputs in the new order as new values. The old ones are made from them if they still have readers.
  void make_outputs(node_id id, const axis_order& q) {
    const std::vector<value_id> outputs{g_[id].outputs.begin(), g_[id].outputs.end()};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == value_id::none) continue;
      value_id& made = made_[outputs[i]] = outputs[i];
      if (q.changes_nothing()) continue;
      made = fresh(r_.at(outputs[i]), q);
      g_.set_output(id, i, made);
      leaving_.push_back(outputs[i]);
    }
  }

  /// Transposes a value for its readers outside the region.
  void leave(value_id v) {
    const axis_order q = region_.values().at(v);
    std::vector<graph::use> uses;
    for (graph::use u : g_.uses(v)) uses.push_back(u);
    for (graph::use u : uses) {
      const node_view n = r_.node(u.node);
      if (u.position != 0 || !r_.may_touch(n)) continue;
      if (region::is_shape_query(r_, n)) query(v, n.id(), q);
      else if (n.has_op<op::Transpose>()) join(v, n.id(), q);
    }
    if (g_[v].use_count > 0 || g_[v].is_output) add_transpose(made_.at(v), v, q.inverse());
  }
  void query(value_id v, node_id shape, const axis_order& q) {
    const value_id result = g_[shape].outputs[0];
    const value_id moved = g_.add_value(g_.unique_name("shape"), g_[result].type);
    g_.set_input(shape, 0, made_.at(v));
    g_.set_output(shape, 0, moved);
    add("Gather", {moved, add_ints(r_, "places", q.inverse().perm())}, result);
  }
  void join(value_id v, node_id transpose, const axis_order& q) {
    const std::optional<axis_order> p = order_of(r_, r_.node(transpose));
    if (!p) return;
    const axis_order both = q.inverse().then(*p);
    const value_id result = g_[transpose].outputs[0], now = made_.at(v);
    if (!both.changes_nothing()) {
      const auto perm = or_throw(r_.owner().memory.copy(std::span<const std::int64_t>{both.perm()}));
      const attribute a = attribute_of("perm", std::span<const std::int64_t>{perm});
      g_.set_attributes(transpose, std::span<const attribute>{&a, 1});
      g_.set_input(transpose, 0, now);
    } else if (!g_[result].is_output) {
      g_.replace_uses(result, now);
      g_.remove_node(transpose);
    } else if (!g_[now].is_output) {  // the graph's output is made under its name
      const node_id producer = g_[now].producer;
      g_.remove_node(transpose);
      g_.set_output(producer, g_[now].producer_output, result);
      g_.replace_uses(now, result);
      made_[v] = result;
    }
  }

  rewriter& r_;
  graph& g_;
  const region& region_;
  std::int64_t opset_;
  placement_vote placement_;  // the annotation of the region, which nodes at its border get
  std::vector<wire> wires_;
  std::map<std::pair<value_id, std::vector<std::int64_t>>, value_id> entries_;
  std::unordered_map<value_id, value_id> made_;
  std::vector<value_id> leaving_;
};

/// Reorders regions between transposes while that reduces the number of transposes. Each region is tried once for each
/// order that one of its transposes suggests, up to a limit that is linear in the size of the graph.
struct optimize_transposes {
  static constexpr std::string_view name = "TransposeOptimizer";
  using roots = op_set<op::Transpose>;
  using makes = op_set<op::Transpose, op::Reshape, op::Unsqueeze, op::Gather>;

  static result<bool> run(rewriter& r) { return optimize_transposes{r}.all(); }

 private:
  explicit optimize_transposes(rewriter& r) : r_{r}, budget_{16 * r.in().order().size() + 10'000} {}

  bool all() {
    std::vector<node_id> found;
    for (node_id n : r_.in().order())
      if (r_.may_touch(r_.node(n)) && r_.node(n).has_op<op::Transpose>()) found.push_back(n);
    bool changed = false;
    for (node_id n : found)
      if (budget_ > 0 && r_.may_touch(r_.node(n)) && at(r_.node(n))) changed = true;
    if (!changed)
      for (node_id n : found) changed = as_reshape(r_.node(n)) || changed;
    return changed;
  }
  bool at(const node_view& n) {
    const std::optional<axis_order> q = order_of(r_, n);
    const value_view x = n.input(0), y = n.output(0);
    if (!q || q->changes_nothing() || r_.constant(x) || !r_.shape(y)) return false;
    using growth = region::growth;
    const std::int64_t opset = n.raw().opset;
    return attempt(y, q->inverse(), growth::all, opset) || attempt(x, *q, growth::all, opset) ||
           attempt(y, q->inverse(), growth::down, opset) || attempt(x, *q, growth::up, opset);
  }
  bool attempt(const value_view& v, const axis_order& q, region::growth how, std::int64_t opset) {
    std::vector<axis_order>& tried = tried_[v.id()];
    if (how == region::growth::all && std::find(tried.begin(), tried.end(), q) != tried.end()) return false;
    region found{r_, how, budget_};
    found.grow(v.id(), q);
    if (budget_ > 0 && found.worth().worth_it()) {
      reordering{r_, found, opset}.apply();
      return true;
    }
    if (how == region::growth::all)
      for (const auto& [value, order] : found.values()) tried_[value].push_back(order);
    return false;
  }

  /// A transpose that moves only axes of size 1 becomes a Reshape. Those of attention stay, for the fusion of
  /// attention.
  bool as_reshape(const node_view& n) {
    if (!r_.may_touch(n)) return false;
    const std::optional<axis_order> q = order_of(r_, n);
    const std::vector<dim>* const shape = r_.shape(n.input(0));
    const node_view from = n.input(0).producer();
    const bool may_be_attention =
        from && (from.has_op<op::Reshape, op::MatMul, op::Split, op::Add, op::Unsqueeze, op::Slice, op::Squeeze,
                             op::Gather, op::Concat, op::Transpose>());
    if (!q || q->changes_nothing() || !q->moves_nothing_in(*shape) || may_be_attention || n.raw().opset < 5)
      return false;
    std::vector<std::int64_t> to;
    for (std::size_t i = 0; i < q->rank(); ++i) {
      const dim& d = (*shape)[(*q)[i]];
      if (d.known() && d.size == 0) return false;
      to.push_back(d.known() ? d.size : (*q)[i] == i ? 0 : -1);
    }
    if (std::count(to.begin(), to.end(), -1) > 1) return false;
    edit e{r_, n};
    e.replace(n.output(0), e.add<op::Reshape>({n.input(0).id(), e.ints("shape", to)}));
    return e.commit();
  }

  rewriter& r_;
  std::size_t budget_;
  std::unordered_map<value_id, std::vector<axis_order>> tried_;
};

}  // namespace

const transform_table& rules::transposes::table() {
  return transform_list<optimization_level::basic, rule_of<transposed_back>, rule_of<transposed_twice>, reshape_behind,
                        optimize_transposes>::table();
}

}  // namespace CAMEO_NAMESPACE
