#include <cameo/core/elements.hpp>
#include <cameo/transform/rewriter.hpp>

#include "graph/messages.hpp"
#include "graph/placement.hpp"
#include "graph/types.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

/// Copies the texts and lists of an attribute to the model's memory.
attribute owned(model& m, attribute a) {
  a.name = or_throw(m.memory.copy(a.name));
  a.s = or_throw(m.memory.copy(a.s));
  a.ints = or_throw(m.memory.copy(a.ints));
  a.floats = or_throw(m.memory.copy(a.floats));
  a.strings = or_throw(m.memory.copy(a.strings));
  return a;
}

/// The stem of names of new nodes: the origin's name, or that of its first output.
std::string_view stem_of(const graph& g, const detail::graph_node& n) {
  if (!n.name.empty()) return n.name;
  for (value_id v : n.outputs)
    if (v != value_id::none && !g[v].name.empty()) return g[v].name;
  return n.op_type;
}

/// The opset of a new node: its origin's, the model's import, or, for a domain that the model does not import, the
/// newest that is not newer than the origin's (internal domains have ONNX's opsets).
std::int64_t opset_for(const model& m, const detail::graph_node& origin, std::string_view domain) {
  if (origin.domain == domain && origin.opset > 0) return origin.opset;
  if (const std::int64_t imported = m.opset(domain); imported > 0) return imported;
  for (const detail::domain_row& row : detail::standard_domains())
    if (row.name == domain) return std::max<std::int64_t>(1, std::min<std::int64_t>(row.newest_opset, origin.opset));
  return 1;
}

/// The new node that gets the origin's name: the last with the same operator, or the last.
node_id heir_of(const graph& g, std::string_view op_type, std::span<const node_id> added) {
  for (auto at = added.rbegin(); at != added.rend(); ++at)
    if (g[*at].op_type == op_type) return *at;
  return added.empty() ? node_id::none : added.back();
}

/// Gives the other new nodes distinct names, from their outputs.
void name_nodes(graph& g, std::span<const node_id> added, node_id heir) {
  for (node_id n : added)
    if (n != heir)
      for (value_id v : g[n].outputs)
        if (v != value_id::none) {
          g[n].name = g[v].name;
          break;
        }
}

/// New nodes get the layer annotation that the removed ones share; add() gave each that of its origin.
void hand_on_placement(graph& g, std::span<const node_id> gone, std::span<const node_id> added) {
  placement_vote vote;
  for (node_id n : gone) vote.add(g, n);
  for (node_id n : added) vote.add(placement_of(g[n].metadata));
  if (!vote.has_annotation()) return;
  for (node_id n : added) set_placement(g.owner(), g[n], vote.agreed());
}

}  // namespace

value_id edit::constant(std::string_view stem, const value& made) {
  graph& g = rewriter_.in();
  arena& memory = rewriter_.owner().memory;
  if (made.kind != value_kind::tensor || made.type == dtype::string) {
    bad_ = true;
    return value_id::none;
  }
  void* const there = memory.allocate(made.bytes() + 1, 64);
  const value* const held = there ? memory.keep(value::tensor(made.type, made.shape, there)) : nullptr;
  if (!held) throw std::bad_alloc{};
  if (made.bytes()) std::memcpy(there, made.data, made.bytes());
  const value_id v = g.add_value(g.unique_name(stem), rewriter_.owner().keep(type_of(*held)));
  g.add_initializer(v, held);
  constants_.push_back(v);
  return v;
}

value_id edit::ints(std::string_view stem, std::span<const std::int64_t> numbers) {
  return constant(stem, value::tensor<std::int64_t>(extents{std::int64_t(numbers.size())}, numbers));
}

value_id edit::scalar(std::string_view stem, dtype type, double number) {
  const auto filled = [&]<class T>(std::type_identity<T>) {
    T element{};
    if constexpr (std::is_arithmetic_v<T>) element = T(number);
    else element = T{float(number)};
    return constant(stem, value::tensor(type, extents{}, &element));
  };
  using elements = detail::element_set<float, double, float16, bfloat16, std::int64_t, std::int32_t>;
  bad_ = bad_ || (detail::bit_of(type) & elements::mask) == 0;
  return elements::visit(type, value_id::none, filled);
}

value_id edit::add(std::string_view domain, std::string_view op, std::span<const value_id> inputs,
                   std::span<const attribute> attributes, std::size_t outputs) {
  graph& g = rewriter_.in();
  model& m = rewriter_.owner();
  const detail::graph_node origin = g[origin_];
  const std::int64_t opset = opset_for(m, origin, domain);
  const op_row* const row = rewriter_.around().ops.find(domain, op);
  if (bad_ || !row || !row->at(opset)) {
    bad_ = true;
    return value_id::none;
  }
  const std::string_view stem = stem_of(g, origin);
  std::vector<value_id> made;
  for (std::size_t i = 0; i < outputs; ++i)
    made.push_back(g.add_value(g.unique_name(fmt::format("{}/{}_{}", stem, op, added_.size()))));
  std::vector<attribute> copied;
  for (const attribute& a : attributes) copied.push_back(owned(m, a));
  std::size_t used = inputs.size();
  while (used > 0 && inputs[used - 1] == value_id::none) --used;
  node_spec spec{stem, domain, op, {}, {}, opset, {}, {}};
  spec.inputs = inputs.first(used), spec.outputs = made, spec.attributes = copied, spec.metadata = origin.metadata;
  const node_id n = g.add_node(spec);
  g[n].provider = origin.provider;
  added_.push_back(n);
  return made.empty() ? value_id::none : made.front();
}

value_id edit::output(std::size_t i) const {
  if (added_.empty()) return value_id::none;
  const std::span<const value_id> all = rewriter_.in()[added_.back()].outputs;
  return i < all.size() ? all[i] : value_id::none;
}

bool edit::fits(const exchange& each) const {
  const graph& g = rewriter_.in();
  if (each.old == value_id::none || each.now == value_id::none || each.old == each.now) return false;
  const value_type *const was = g[each.old].type, *const is = g[each.now].type;
  if (!was || !is) return true;
  return bool(merge_types(*is, *was, rank_conflict::is_error));
}

/// A graph output is identified by its value's name, so another value can only replace it if its producer can make it
/// under that name.
bool edit::can_take_name(const exchange& each) const {
  const graph& g = rewriter_.in();
  if (!g[each.old].is_output) return true;
  const detail::graph_value& now = g[each.now];
  return now.producer != node_id::none && !now.is_output && !now.is_input && !now.constant &&
         now.outer == value_id::none && rewriter_.may_touch(rewriter_.node(now.producer));
}

void edit::rewire(const exchange& each, std::vector<node_id>& gone) {
  graph& g = rewriter_.in();
  const node_id old_producer = g[each.old].producer, producer = g[each.now].producer;
  const bool is_new = std::find(added_.begin(), added_.end(), producer) != added_.end();
  const bool renames = producer != node_id::none && !g[each.now].is_output && (is_new || g[each.old].is_output);
  if (g[each.old].type && g[each.now].type)
    // If both symbols stand for one size, the one that other values use stays.
    if (auto merged = renames ? merge_types(*g[each.old].type, *g[each.now].type, rank_conflict::is_error)
                              : merge_types(*g[each.now].type, *g[each.old].type, rank_conflict::is_error))
      g[renames ? each.old : each.now].type = rewriter_.owner().keep(*std::move(merged));
  if (!renames) {
    g.replace_uses(each.old, each.now);
    rewriter_.touch(each.now);
    rewriter_.prune(old_producer, &gone);
    return;
  }
  if (!g[each.old].type) g[each.old].type = g[each.now].type;
  if (old_producer != node_id::none)
    g.set_output(old_producer, g[each.old].producer_output, g.add_value({}, g[each.old].type));
  g.set_output(producer, g[each.now].producer_output, each.old);
  g.replace_uses(each.now, each.old);
  for (exchange& other : replaced_)
    if (other.now == each.now && other.old != each.old) other.now = each.old;
  rewriter_.touch(each.old);
  rewriter_.prune(old_producer, &gone);
}

bool edit::possible() const {
  graph& g = rewriter_.in();
  const auto legal = [&](node_id n) {
    return is_possible(resolve_and_check_node(g, n, rewriter_.around().ops)) && is_possible(infer_node_types(g, n)) &&
           rewriter_.around().takes(rewriter_.node(n));
  };
  const auto exchangeable = [&](const exchange& each) { return fits(each) && can_take_name(each); };
  return !bad_ && !done_ && !replaced_.empty() && std::all_of(added_.begin(), added_.end(), legal) &&
         std::all_of(replaced_.begin(), replaced_.end(), exchangeable);
}

bool edit::commit() {
  graph& g = rewriter_.in();
  if (!possible()) {
    abandon();
    return false;
  }
  done_ = true;
  model& m = rewriter_.owner();
  for (node_id n : added_)
    if (m.opset(g[n].domain) == 0) m.imports.push_back({g[n].domain, g[n].opset});
  const node_id heir = heir_of(g, g[origin_].op_type, added_);
  name_nodes(g, added_, heir);
  std::vector<node_id> gone;
  for (std::size_t i = 0; i < replaced_.size(); ++i) rewire(exchange{replaced_[i]}, gone);
  hand_on_placement(g, gone, added_);
  if (!g[origin_].removed && heir != node_id::none) g[heir].name = g.unique_name(stem_of(g, g[origin_]));
  for (node_id n : added_) rewriter_.touch(n);
  return true;
}

void edit::abandon() {
  if (done_) return;
  done_ = true;
  graph& g = rewriter_.in();
  for (auto at = added_.rbegin(); at != added_.rend(); ++at) g.remove_node(*at);
  for (auto at = constants_.rbegin(); at != constants_.rend(); ++at) g.remove_initializer(*at);
}

}  // namespace CAMEO_NAMESPACE
