#include <cameo/op/group_actions.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/messages.hpp"
#include "transform/new_nodes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

std::vector<const group_row*> rows_of(std::span<const transform_table* const> tables,
                                      std::span<const std::string_view> disabled) {
  std::vector<const group_row*> rows;
  for (const transform_table* table : tables)
    for (const group_row& row : table->groups)
      if (std::find(disabled.begin(), disabled.end(), row.name) == disabled.end()) rows.push_back(&row);
  return rows;
}

bool starts_at(const group_row& row, const detail::graph_node& n) {
  return n.op && std::find(row.roots.begin(), row.roots.end(), n.op->id) != row.roots.end();
}

group_form form_of(const group_row& row, std::string_view action) {
  bool known = false;
  const group_action* const found = find_group_action(row.name, action, known);
  return found ? found->form : group_form::in_place;
}

/// The produced operators as files list them; nodes that stay, on integers, are not listed.
std::vector<std::string> products(const graph& g, const edit& e, group_form form) {
  std::vector<std::string> made;
  if (form == group_form::in_place) return made;
  for (node_id n : e.added()) made.push_back(fmt::format("{}:{}:{}", g[n].domain, g[n].op_type, g[n].version->since));
  return made;
}

/// A later replay of the record needs opsets for the new nodes.
void import_domains(const graph& g, const edit& e) {
  model& m = g.owner();
  for (node_id n : e.added())
    if (m.opset(g[n].domain) == 0) m.imports.push_back({g[n].domain, g[n].opset});
}

/// A group as a record of a file, in the model's memory.
detail::saved_optimization saved(model& m, const group_row& row, const rewrite_group& from,
                                 const std::vector<std::string>& products) {
  detail::saved_optimization to;
  to.optimizer = row.name;
  to.action = or_throw(m.memory.copy(from.action));
  std::vector<node_id> nodes{from.inputs};
  nodes.push_back(from.target);
  nodes.insert(nodes.end(), from.outputs.begin(), from.outputs.end());
  if (from.middle != node_id::none) nodes.push_back(from.middle);
  to.nodes = or_throw(m.memory.copy(std::span<const node_id>{nodes}));
  to.variadic_input = from.variadic_input;
  to.variadic_output = from.variadic_output;
  to.inputs = from.variadic_input ? 1 : std::uint32_t(from.inputs.size());
  to.outputs = from.variadic_output ? 1 : std::uint32_t(from.outputs.size());
  to.variadic_inputs = from.variadic_input ? std::uint32_t(from.inputs.size()) : 0;
  to.variadic_outputs = from.variadic_output ? std::uint32_t(from.outputs.size()) : 0;
  std::vector<std::string_view> ids;
  for (const std::string& id : products) ids.push_back(or_throw(m.memory.copy(std::string_view{id})));
  to.produces = or_throw(m.memory.copy(std::span<const std::string_view>{ids}));
  return to;
}

std::vector<node_id> nodes_of(const rewrite_group& from) {
  std::vector<node_id> nodes{from.inputs};
  nodes.push_back(from.target);
  nodes.insert(nodes.end(), from.outputs.begin(), from.outputs.end());
  if (from.middle != node_id::none) nodes.push_back(from.middle);
  return nodes;
}

/// The index of a record's target among its nodes.
std::size_t target_of(const detail::saved_optimization& from) {
  const std::size_t more = std::max<std::size_t>(1, from.variadic_inputs);
  return from.variadic_input ? from.inputs - 1 + more : from.inputs;
}

class group_walk {
 public:
  group_walk(std::span<const transform_table* const> tables, const rewriter::surroundings& around,
             const transform_options& options)
      : rows_{rows_of(tables, options.disabled)}, around_{around}, options_{options} {}
  bool has_rows() const { return !rows_.empty(); }

  /// Calls `at` for the subgraphs of a graph.
  template <class At>
  result<bool> below(graph& g, At at) {
    bool changed = false;
    for (node_id n : detail::ordered_nodes(g)) {
      if (g[n].fused >= 0) continue;
      for (graph* body : g[n].subgraphs) {
        result<bool> done = at(*body);
        if (!done) return done;
        changed = changed || *done;
      }
    }
    return changed;
  }

  result<bool> choose(graph& g, const group_policy& policy, group_mode mode) {
    result<bool> inner = below(g, [&](graph& body) { return choose(body, policy, mode); });
    if (!inner) return inner;
    rewriter r{g, around_};
    std::vector<detail::saved_optimization> found{g.saved_optimizations.begin(), g.saved_optimizations.end()};
    const std::size_t before = found.size();
    bool changed = false;
    const std::vector<node_id> order{g.order().begin(), g.order().end()};
    for (const group_row* row : rows_)
      for (node_id n : order) {
        rewrite_group group;
        if (!r.may_touch(r.node(n)) || !starts_at(*row, g[n]) || !row->select(r, r.node(n), policy, group)) continue;
        edit e{r, r.node(n)};
        if (!row->replace(e, r, group)) continue;
        if (mode == group_mode::replace) {
          if (!e.commit()) continue;
          changed = true;
          if (options_.log) options_.log->add(row->name);
        } else if (e.possible()) {
          import_domains(g, e);
          found.push_back(saved(g.owner(), *row, group, products(g, e, form_of(*row, group.action))));
        }
      }
    if (changed)
      if (status s = r.refresh(); !s) return s;
    if (mode == group_mode::record) {
      // Files are ordered by optimizer, as onnxruntime writes them.
      std::stable_sort(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.optimizer < b.optimizer; });
      g.saved_optimizations = or_throw(g.owner().memory.copy(std::span<const detail::saved_optimization>{found}));
      g.hold_saved();
      changed = found.size() > before;
    }
    return changed || *inner;
  }

  result<bool> replay(graph& g) {
    result<bool> inner = below(g, [&](graph& body) { return replay(body); });
    if (!inner || (g.saved_optimizations.empty() && g.saved_problem.empty())) return inner;
    if (!g.saved_problem.empty()) return failed(status_code::fail, "{}", g.saved_problem);
    rewriter r{g, around_};
    std::vector<detail::saved_optimization> left;
    bool changed = false;
    const auto of_optimizer = [&](std::string_view name) {
      const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const group_row* row) { return row->name == name; });
      return at == rows_.end() ? nullptr : *at;
    };
    for (const detail::saved_optimization& each : g.saved_optimizations)
      if (!of_optimizer(each.optimizer)) left.push_back(each);
    for (const group_row* row : rows_)  // in the order of rows: of two records for one node the first is replayed
      for (const detail::saved_optimization& each : g.saved_optimizations) {
        if (each.optimizer != row->name) continue;
        const result<bool> done = replay(r, *row, each);
        if (!done)
          return status{done.error()}.in(
              fmt::format("saved action '{}' of optimizer '{}'", each.action, each.optimizer));
        changed = changed || *done;
        if (*done && options_.log) options_.log->add(row->name);
      }
    g.saved_optimizations = or_throw(g.owner().memory.copy(std::span<const detail::saved_optimization>{left}));
    if (changed)
      if (status s = r.refresh(); !s) return s;
    return changed || *inner;
  }

 private:
  /// Replays one record. False if it was skipped.
  result<bool> replay(rewriter& r, const group_row& row, const detail::saved_optimization& from) {
    graph& g = r.in();
    bool known = false;
    const group_action* const action = find_group_action(row.name, from.action, known);
    if (!action) return failed(status_code::fail, "the optimizer has no such action");
    for (node_id n : from.nodes)
      if (n != node_id::none && !r.may_touch(r.node(n))) return false;
    const node_id target = from.nodes[target_of(from)];
    rewrite_group group;
    const group_policy any{true};
    if (target == node_id::none || !starts_at(row, g[target]) || !row.select(r, r.node(target), any, group))
      return false;
    if (form_of(row, group.action) != action->form || !std::ranges::equal(nodes_of(group), from.nodes)) return false;
    edit e{r, r.node(target)};
    if (!row.replace(e, r, group) || !e.possible()) return false;
    const std::vector<std::string> made = products(g, e, action->form);
    if (!std::ranges::equal(made, from.produces) && !(from.produces.empty() && may_leave_out_products(*action)))
      return failed(status_code::fail, "produced_op_ids are [{}], but the action makes [{}]",
                    fmt::join(from.produces, ", "), fmt::join(made, ", "));
    return e.commit();
  }
  /// ONNX Runtime 1.31 writes no products for these, and cannot replay them.
  static bool may_leave_out_products(const group_action& action) {
    return action.form == group_form::parts || (action.form == group_form::binary && action.name == "MatMul");
  }

  std::vector<const group_row*> rows_;
  const rewriter::surroundings& around_;
  const transform_options& options_;
};

}  // namespace

result<bool> apply_groups(graph& g, std::span<const transform_table* const> tables,
                          const rewriter::surroundings& around, const transform_options& options,
                          const group_policy& policy, group_mode mode) {
  return guarded([&]() -> result<bool> {
    return with_conditions_of(tables, around, [&](const rewriter::surroundings& with_conditions) {
      group_walk walk{tables, with_conditions, options};
      return walk.has_rows() ? walk.choose(g, policy, mode) : result<bool>{false};
    });
  });
}

result<bool> replay_groups(graph& g, std::span<const transform_table* const> tables,
                           const rewriter::surroundings& around, const transform_options& options) {
  return guarded([&] { return group_walk{tables, around, options}.replay(g); });
}

}  // namespace CAMEO_NAMESPACE
