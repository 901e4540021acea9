// Replaces SequenceMap by a Loop.
#include "graph/inline.hpp"
#include "transform/rules/definitions.hpp"

namespace CAMEO_NAMESPACE::define {
namespace {

/// Makes the Loop of one SequenceMap. The node has been checked: its inputs are sequences or tensors, as many as its
/// body has.
class mapped_loop {
 public:
  mapped_loop(rewriter& r, node_id map)
      : r_{r}, g_{r.in()}, map_{g_[map]}, id_{map}, loop_{r.owner().add_graph(&r.in())} {}

  status build() {
    const graph& each = *map_.subgraphs[0];
    loop_.name = each.name;
    const value_id turn = loop_input("turn", value_type::tensor(dtype::i64, {}));
    const value_id go_on = loop_input("go_on", value_type::tensor(dtype::boolean, {}));
    std::vector<value_id> lists, elements, made;
    for (value_id out : map_.outputs) lists.push_back(loop_input("so_far", *g_[out].type));
    loop_.add_output(add(loop_, "Identity", {go_on}));
    for (std::size_t i = 0; i < map_.input_count; ++i) elements.push_back(element(i, turn));
    for (value_id out : map_.outputs) made.push_back(loop_.add_value(loop_.unique_name(g_[out].name), nullptr));
    const node_id call = loop_.add_node({map_.name, {}, map_.op_type, {}, {}, map_.opset, elements, made});
    for (std::size_t i = 0; i < made.size(); ++i) loop_.add_output(add(loop_, "SequenceInsert", {lists[i], made[i]}));
    if (const auto copied = inline_body(loop_, call, each, r_.around().ops); !copied) return copied.error();
    if (status s = resolve_all(loop_); !s) return s;
    if (status s = loop_.sort(); !s) return s;
    return take_place();
  }

 private:
  value_id loop_input(std::string_view stem, value_type type) {
    const value_id v = loop_.add_value(loop_.unique_name(stem), r_.owner().keep(std::move(type)));
    loop_.add_input(v);
    return v;
  }

  /// Adds a node, with the provider of the node that it replaces, and returns its first output.
  value_id add(graph& to, std::string_view op, std::vector<value_id> inputs,
               std::span<const attribute> attributes = {}) {
    const value_id out = to.add_value(to.unique_name(op), nullptr);
    const node_id n =
        to.add_node({to[out].name, {}, op, {}, {}, map_.opset, inputs, {&out, 1}, attributes, {}, map_.metadata});
    to[n].provider = map_.provider;
    if (&to == &g_) added_.push_back(n);
    return out;
  }

  /// The i-th input of the body: an element of a sequence, or the same tensor in each iteration.
  value_id element(std::size_t i, value_id iteration) {
    const value_id given = g_.input(id_, i), seen = loop_.capture_of(given);
    return g_[given].type->kind == type_kind::sequence ? add(loop_, "SequenceAt", {seen, iteration}) : seen;
  }

  status resolve_all(graph& g) {
    for (std::size_t i = 0; i < g.node_capacity(); ++i) {
      if (g[node_id(i)].removed) continue;
      g[node_id(i)].provider = map_.provider;
      if (status s = resolve_and_check_node(g, node_id(i), r_.around().ops); !s) return s;
    }
    return {};
  }

  status take_place() {
    std::vector<value_id> inputs{add(g_, "SequenceLength", {g_.input(id_, 0)}), value_id::none};
    for (value_id out : map_.outputs) {
      const attribute type = attribute_of("dtype", std::int64_t(g_[out].type->element->type));
      inputs.push_back(add(g_, "SequenceEmpty", {}, {&type, 1}));
    }
    const std::vector<value_id> outputs(map_.outputs.begin(), map_.outputs.end());
    attribute body;
    body.name = "body", body.kind = attribute_kind::g, body.i = 0;
    graph* const bodies[] = {&loop_};
    g_.remove_node(id_);
    const node_id n = g_.add_node(
        {map_.name, {}, "Loop", {}, map_.doc_string, map_.opset, inputs, outputs, {&body, 1}, bodies, map_.metadata});
    g_[n].provider = map_.provider;
    added_.push_back(n);
    for (node_id each : added_) {
      if (status s = resolve_and_check_node(g_, each, r_.around().ops); !s) return s;
      r_.touch(each);
    }
    return {};
  }

  rewriter& r_;
  graph& g_;
  const detail::graph_node map_;
  node_id id_;
  graph& loop_;
  std::vector<node_id> added_;
};

bool can_loop(rewriter& r, const node_view& n) {
  if (!r.may_touch(n) || !n.has_op<op::SequenceMap>() || n.subgraphs().size() != 1) return false;
  for (value_view v : n.inputs())
    if (!v || !v.type()) return false;
  for (value_view v : n.outputs())
    if (!v || !v.type() || v.type()->kind != type_kind::sequence || !v.type()->element->is_tensor()) return false;
  return n.subgraphs()[0]->inputs().size() == n.input_count();
}

}  // namespace

result<bool> sequence_map::run(rewriter& r) {
  bool changed = false;
  for (node_id id : detail::ordered_nodes(r.in())) {
    if (!can_loop(r, r.node(id))) continue;
    if (status s = mapped_loop{r, id}.build(); !s) return s;
    changed = true;
  }
  return changed;
}

}  // namespace CAMEO_NAMESPACE::define
