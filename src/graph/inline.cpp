#include "inline.hpp"

#include <algorithm>

#include "functions.hpp"
#include "messages.hpp"
#include "placement.hpp"
#include "types.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// Copies graphs into a model, with the attributes of a call filled in.
class copier {
 public:
  copier(graph& home, const detail::graph_node& call, const function& f, const op_table& ops)
      : home_{home},
        memory_{home.owner().memory},
        call_{call},
        function_{f},
        ops_{ops},
        prefix_{call.name.empty() ? call.op_type : call.name} {}

  /// Copies the nodes of `from` into `to`. `map` has the values that exist, and receives the others.
  status copy_nodes(const graph& from, graph& to, std::vector<value_id>& map, std::vector<node_id>* added) {
    std::vector<value_id> inputs, outputs;
    for (std::size_t i = 0; i < from.node_capacity(); ++i) {
      const detail::graph_node& n = from[node_id(i)];
      if (n.removed) continue;
      std::vector<graph*> subgraphs;
      for (const graph* body : n.subgraphs) {
        result<graph*> made = copy_body(*body, to, [&](value_id v) { return map[index_of(v)]; });
        if (!made) return made.error();
        subgraphs.push_back(*made);
      }
      result<std::vector<attribute>> attributes = fill_in(n.attributes, to, subgraphs);
      if (!attributes) return attributes.error();
      inputs.clear();
      outputs.clear();
      for (std::size_t k = 0; k < n.input_count; ++k) inputs.push_back(mapped(map, from.input(node_id(i), k)));
      for (value_id v : n.outputs) outputs.push_back(mapped(map, v));
      const std::string name = name_of(n, to, outputs);
      const node_id made = to.add_node({name, n.domain, n.op_type, n.overload, n.doc_string, n.opset, inputs, outputs,
                                        *attributes, subgraphs, n.metadata});
      if (status fine = check_node(to, made, ops_, false); !fine) return std::move(fine).in(describe(to, to[made]));
      if (added) added->push_back(made);
    }
    return status_code::ok;
  }

  /// Adds a value to `to` that stands for `v` of `from`.
  value_id new_value(const detail::graph_value& v, graph& to) {
    const std::string_view name = to.unique_name(fmt::format("{}/{}", prefix_, v.name));
    const value_type* type = v.type ? home_.owner().keep(without_symbols(*v.type)) : nullptr;
    const value_id made = to.add_value(name, type);
    if (v.constant && v.producer == node_id::none) to.add_initializer(made, v.constant);
    return made;
  }

 private:
  static value_id mapped(const std::vector<value_id>& map, value_id v) {
    return v == value_id::none ? v : map[index_of(v)];
  }

  /// The caller's name and the node's own. A node without a name gets that of its output, which is unique: files must
  /// not give two nodes the same name.
  std::string name_of(const detail::graph_node& n, const graph& to, std::span<const value_id> outputs) const {
    const bool is_named = !call_.name.empty() && !n.name.empty();
    if (!is_named && !outputs.empty() && outputs[0] != value_id::none && !to[outputs[0]].name.empty())
      return std::string{to[outputs[0]].name};
    return fmt::format("{}/{}", prefix_, n.name.empty() ? n.op_type : n.name);
  }

  /// Copies a body. `outer_value` returns the value of `outer` for a captured one.
  template <class OuterValue>
  result<graph*> copy_body(const graph& from, graph& outer, OuterValue outer_value) {
    graph& to = home_.owner().add_graph(&outer);
    to.name = from.name;
    to.doc_string = from.doc_string;
    to.metadata = from.metadata;
    std::vector<value_id> map(from.value_count(), value_id::none);
    for (std::size_t i = 0; i < map.size(); ++i) {
      const detail::graph_value& v = from[value_id(i)];
      if (v.outer == value_id::none) {
        map[i] = new_value(v, to);
      } else if (const value_id there = outer_value(v.outer); there != value_id::none) {
        map[i] = to.capture_of(there);
      }  // otherwise the call leaves out what the body captures, which is then absent in the body, too
    }
    for (value_id v : from.inputs()) to.add_input(map[index_of(v)]);
    for (value_id v : from.outputs()) {
      if (map[index_of(v)] == value_id::none)
        return failed(status_code::invalid_graph, "body '{}' has the output '{}', which the call leaves out", from.name,
                      from[v].name);
      to.add_output(map[index_of(v)]);
    }
    if (status copied = copy_nodes(from, to, map, nullptr); !copied) return copied;
    if (status sorted = to.sort(); !sorted) return sorted;
    return &to;
  }

  /// The caller's attribute: that of the call, else the function's default, else the default of the operator whose body
  /// the function is.
  const attribute* of_caller(std::string_view name) {
    if (const attribute* const given = detail::find_attribute(call_.attributes, name)) return given;
    if (const attribute* const otherwise = detail::find_attribute(function_.attribute_defaults, name)) return otherwise;
    if (!call_.version) return nullptr;
    for (const attribute_rule& rule : call_.version->attributes) {
      if (rule.name != name || !rule.has_default) continue;
      attribute made;
      made.name = rule.name, made.kind = rule.kind;
      made.i = rule.default_int, made.f = rule.default_float, made.s = rule.default_string;
      const attribute* const kept = memory_.keep(made);
      if (!kept) throw std::bad_alloc{};
      return kept;
    }
    return nullptr;
  }

  /// The value in `inside`, a graph below home, that stands for a value of the graph with the call.
  value_id seen_in(graph& inside, value_id v) const {
    return &inside == &home_ ? v : inside.capture_of(seen_in(*inside.outer(), v));
  }

  result<std::vector<attribute>> fill_in(std::span<const attribute> attributes, graph& to,
                                         std::vector<graph*>& subgraphs) {
    std::vector<attribute> filled;
    for (const attribute& a : attributes) {
      if (a.ref_attr_name.empty()) {
        filled.push_back(a);
        continue;
      }
      const attribute* const given = of_caller(a.ref_attr_name);
      if (!given) continue;
      if (a.kind != attribute_kind::undefined && a.kind != given->kind)
        return failed(status_code::invalid_graph, "attribute {} is of type {}, must be {}", given->name,
                      detail::attribute_kind_rows[std::size_t(given->kind)].name,
                      detail::attribute_kind_rows[std::size_t(a.kind)].name);
      attribute copy = *given;
      copy.name = a.name;
      if (given->kind == attribute_kind::g || given->kind == attribute_kind::graphs)
        if (status taken = take_graphs(*given, copy, to, subgraphs); !taken) return taken;
      filled.push_back(copy);
    }
    return filled;
  }

  /// Copies the graphs that the call passes, since they get another node.
  status take_graphs(const attribute& given, attribute& copy, graph& to, std::vector<graph*>& subgraphs) {
    std::vector<std::int64_t> numbers{given.ints.begin(), given.ints.end()};
    if (given.kind == attribute_kind::g) numbers.assign(1, given.i);
    for (std::int64_t& number : numbers) {
      if (number < 0 || std::size_t(number) >= call_.subgraphs.size())
        return failed(status_code::invalid_graph, "attribute '{}' names a graph that the call does not have",
                      given.name);
      const graph& body = *call_.subgraphs[std::size_t(number)];
      result<graph*> made = copy_body(body, to, [&](value_id v) { return seen_in(to, v); });
      if (!made) return made.error();
      number = std::int64_t(subgraphs.size());
      subgraphs.push_back(*made);
    }
    if (given.kind == attribute_kind::g) copy.i = numbers[0];
    else copy.ints = or_throw(memory_.copy(std::span<const std::int64_t>{numbers}));
    return status_code::ok;
  }

  graph& home_;
  arena& memory_;
  const detail::graph_node& call_;
  const function& function_;
  const op_table& ops_;
  std::string_view prefix_;
};

/// Replaces the call's output `gone` by the value `there` in all its uses.
status hand_through(graph& g, value_id gone, value_id there) {
  if (there != value_id::none) {
    g.replace_uses(gone, there);
    return status_code::ok;
  }
  std::vector<graph::use> uses;
  for (graph::use u : g.uses(gone)) uses.push_back(u);
  for (graph::use u : uses) {
    if (u.position >= g[u.node].input_count)
      return failed(status_code::invalid_graph, "'{}' is used in a body of {}, but the call leaves it out",
                    g[gone].name, describe(g, g[u.node]));
    g.set_input(u.node, u.position, value_id::none);
  }
  return status_code::ok;
}

/// Adds a node that copies `from` to the graph output `to`, so that the output keeps its name. `what` passes it
/// through.
result<node_id> add_identity(graph& g, value_id from, value_id to, std::string_view what,
                             std::span<const opset_import> imports, const op_table& ops) {
  const auto row = std::find_if(ops.standard.begin(), ops.standard.end(),
                                [](const op_row& r) { return detail::has_role(r.roles, role::is_identity); });
  if (from == value_id::none || row == ops.standard.end())
    return failed(status_code::invalid_graph, "graph output '{}' is an input that {} only passes through{}", g[to].name,
                  what, from == value_id::none ? ", and the call leaves it out" : "");
  std::int64_t opset = g.owner().opset(row->domain);
  for (const opset_import& import : imports)
    if (import.domain == row->domain) opset = import.version;
  if (opset < 1) opset = row->versions.back().since;
  const node_id made = g.add_node({g[to].name, row->domain, row->name, {}, {}, opset, {&from, 1}, {&to, 1}});
  if (status fine = check_node(g, made, ops, false); !fine) return fine;
  return made;
}

/// Makes the readers of a removed node's outputs read the values that replace them.
status hand_over(graph& g, std::span<const value_id> before, std::span<const value_id> now, std::string_view what,
                 std::span<const opset_import> imports, const op_table& ops, std::vector<node_id>& added) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == now[i]) continue;
    if (g[before[i]].is_output) {
      result<node_id> identity = add_identity(g, now[i], before[i], what, imports, ops);
      if (!identity) return identity.error();
      added.push_back(*identity);
    } else if (status handed = hand_through(g, before[i], now[i]); !handed) {
      return handed;
    }
  }
  return status_code::ok;
}

}  // namespace

result<std::vector<value_id>> expand_call(graph& g, node_id id, const function& f, const op_table& ops,
                                          std::vector<node_id>* added) {
  const detail::graph_node call = g[id];
  const graph& body = *f.body;
  std::vector<value_id> map(body.value_count(), value_id::none), outputs(call.outputs.begin(), call.outputs.end());
  std::vector<bool> is_mapped(body.value_count(), false);
  if (call.input_count > body.inputs().size() || outputs.size() > body.outputs().size())
    return failed(status_code::invalid_graph, "{} has {} inputs and {} outputs, but function '{}' has {} and {}",
                  describe(g, call), call.input_count, outputs.size(), function_name(f), body.inputs().size(),
                  body.outputs().size());
  for (std::size_t i = 0; i < body.inputs().size(); ++i) {
    const std::size_t v = index_of(body.inputs()[i]);
    is_mapped[v] = true;
    if (i < call.input_count) map[v] = g.input(id, i);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const value_id v = body.outputs()[i];
    if (outputs[i] == value_id::none || is_mapped[index_of(v)] || body[v].producer == node_id::none) continue;
    is_mapped[index_of(v)] = true;
    map[index_of(v)] = outputs[i];
  }
  g.remove_node(id);  // frees its outputs for the copies
  copier copy{g, call, f, ops};
  for (std::size_t i = 0; i < map.size(); ++i)
    if (!is_mapped[i]) map[i] = copy.new_value(body[value_id(i)], g);
  if (status copied = copy.copy_nodes(body, g, map, added); !copied)
    return std::move(copied).in(fmt::format("function '{}'", function_name(f)));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != value_id::none) outputs[i] = map[index_of(body.outputs()[i])];
  return outputs;
}

result<std::vector<node_id>> inline_call(graph& g, node_id id, const function& f, const op_table& ops) {
  return guarded([&]() -> result<std::vector<node_id>> {
    const detail::graph_node call = g[id];
    std::vector<node_id> added;
    result<std::vector<value_id>> outputs = expand_call(g, id, f, ops, &added);
    if (!outputs) return outputs.error();
    const std::string what = fmt::format("function '{}'", function_name(f));
    if (status done = hand_over(g, call.outputs, *outputs, what, f.imports, ops, added); !done) return done;
    inherit_placement(g, added, placement_of(call.metadata));
    return added;
  });
}

result<std::vector<node_id>> inline_body(graph& g, node_id id, const graph& body, const op_table& ops) {
  return guarded([&]() -> result<std::vector<node_id>> {
    const detail::graph_node call = g[id];
    const bool is_beside = body.outer() != &g;  // then both capture from the same graph
    if ((is_beside && body.outer() != g.outer()) || body.inputs().size() > call.input_count ||
        body.outputs().size() != call.outputs.size())
      return failed(status_code::not_implemented, "body '{}' has more inputs than its node", body.name);
    std::vector<value_id> map(body.value_count(), value_id::none), outputs(call.outputs.begin(), call.outputs.end());
    for (value_id v : body.captures()) map[index_of(v)] = is_beside ? g.capture_of(body[v].outer) : body[v].outer;
    for (std::size_t i = 0; i < body.inputs().size(); ++i) map[index_of(body.inputs()[i])] = g.input(id, i);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const value_id v = body.outputs()[i];
      if (outputs[i] == value_id::none || map[index_of(v)] != value_id::none || body[v].producer == node_id::none)
        continue;
      map[index_of(v)] = outputs[i];
    }
    g.remove_node(id);  // frees its outputs for the copies
    const function no_function{};
    copier copy{g, call, no_function, ops};
    std::vector<node_id> added;
    for (std::size_t i = 0; i < map.size(); ++i)
      if (map[i] == value_id::none) map[i] = copy.new_value(body[value_id(i)], g);
    if (status copied = copy.copy_nodes(body, g, map, &added); !copied)
      return std::move(copied).in(fmt::format("body '{}'", body.name));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != value_id::none) outputs[i] = map[index_of(body.outputs()[i])];
    const std::string what = fmt::format("body '{}'", body.name);
    if (status done = hand_over(g, call.outputs, outputs, what, {}, ops, added); !done) return done;
    inherit_placement(g, added, placement_of(call.metadata));
    return added;
  });
}

}  // namespace CAMEO_NAMESPACE
