// Replaces an If with a constant condition by the branch that is taken.
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/inline.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// True if a graph or one of its subgraphs is broken: a node makes a value without a type. Inference leaves no types in
/// a branch that it reports as broken.
bool lacks_types(const graph& g) {
  for (node_id n : g.order()) {
    for (value_id v : g[n].outputs)
      if (v != value_id::none && (!g[v].type || g[v].type->kind == type_kind::unknown ||
                                  (g[v].type->is_tensor() && g[v].type->type == dtype::undefined)))
        return true;
    for (const graph* body : g[n].subgraphs)
      if (lacks_types(*body)) return true;
  }
  return false;
}

bool is_any(const node_view&) { return true; }

/// True for an If whose other branch cannot run.
bool has_broken_branch(const node_view& n) {
  for (const graph* body : n.subgraphs())
    if (lacks_types(*body)) return true;
  return false;
}

/// Inlines the branches of Ifs for which `Chosen` is true.
template <bool (*Chosen)(const node_view&)>
struct inline_branches {
  static constexpr std::string_view name = "IfInlining";
  using roots = op_set<op::If>;
  using makes = op_set<op::Identity>;  // for a branch that returns a value from outside

  /// The body that runs; null if it is unknown, or if it cannot be copied into the graph.
  static const graph* taken(rewriter& r, const node_view& n) {
    if (!r.may_touch(n) || !n.has_op<op::If>() || !n.input(0)) return nullptr;
    const value* const condition = r.constant(n.input(0));
    if (!condition || condition->kind != value_kind::tensor || condition->type != dtype::boolean ||
        condition->memory != 0 || condition->shape.count() != 1)
      return nullptr;
    const bool is_true = *static_cast<const std::uint8_t*>(condition->data) != 0;
    const auto a = n.attributes<op::If>();
    const auto branch = std::size_t(is_true ? a.then_branch : a.else_branch);
    if (branch >= n.subgraphs().size()) return nullptr;
    const graph* const body = n.subgraphs()[branch];
    // An optional with a value has the type of the value: inlining would lose a type that only the node declares.
    for (value_view v : n.outputs())
      if (v && v.type() && v.type()->kind == type_kind::optional) return nullptr;
    return body->inputs().empty() && Chosen(n) ? body : nullptr;
  }

  static result<bool> run(rewriter& r) {
    bool changed = false;
    for (node_id id : detail::ordered_nodes(r.in())) {
      const graph* const body = taken(r, r.node(id));
      if (!body) continue;
      const value_id condition = r.in().input(id, 0);
      const result<std::vector<node_id>> added = inline_body(r.in(), id, *body, r.around().ops);
      if (!added) return added.error();
      for (node_id n : *added) r.touch(n);
      r.prune(r.in()[condition].producer);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

const transform_table& rules::constant_branches::table() {
  return transform_list<optimization_level::basic, inline_branches<is_any>>::table();
}

const transform_table& detail::broken_branches::table() {
  return transform_list<optimization_level::none, inline_branches<has_broken_branch>>::table();
}

}  // namespace CAMEO_NAMESPACE
