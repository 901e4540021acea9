#include <cameo/graph/check.hpp>
#include <cameo/op/check_attribute.hpp>
#include <cameo/op/check_presence.hpp>

#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "functions.hpp"
#include "inference.hpp"
#include "inline.hpp"
#include "messages.hpp"
#include "oddities.hpp"
#include "op/unchecked_attributes.hpp"
#include "types.hpp"

namespace CAMEO_NAMESPACE {

const op_row* op_table::find(std::string_view domain, std::string_view name) const {
  if (const op_row* const found = detail::find_op(standard, domain, name)) return found;
  for (std::span<const op_row> rows : more)
    if (const op_row* const found = detail::find_op(rows, domain, name)) return found;
  return nullptr;
}

bool op_table::has_domain(std::string_view domain) const {
  const auto has = [&](std::span<const op_row> rows) {
    return std::any_of(rows.begin(), rows.end(), [&](const op_row& row) { return row.domain == domain; });
  };
  return has(standard) || std::any_of(more.begin(), more.end(), has);
}

namespace {

bool is_standard(const op_table& ops, const op_row* row) {
  return row >= ops.standard.data() && row < ops.standard.data() + ops.standard.size();
}

template <class... Args>
status bad(fmt::format_string<Args...> format, Args&&... args) {
  return failed(status_code::invalid_graph, format, std::forward<Args>(args)...);
}

std::string range_of(std::size_t least, std::size_t formal_count, bool is_variadic) {
  if (is_variadic) return fmt::format("at least {}", least);
  return least == formal_count ? fmt::format("{}", least) : fmt::format("{} to {}", least, formal_count);
}

/// Checks the number of inputs or outputs. `present(i)`: the i-th is not absent. Trailing ones may be absent, except
/// for variadic inputs: each counts (as the n of a Mean), and kernels read all.
template <class Present>
status check_arity(std::string_view what, std::span<const parameter> parameters, std::size_t least, std::size_t count,
                   bool are_inputs, Present present) {
  const bool is_variadic = !parameters.empty() && parameters.back().option == parameter_option::variadic;
  if (!are_inputs || !is_variadic || count < parameters.size())
    while (count > 0 && !present(count - 1)) --count;
  if (is_variadic) least = std::max<std::size_t>(least, parameters.size() - 1 + parameters.back().min_arity);
  for (std::size_t i = 0; i < std::max(count, parameters.size()); ++i) {
    const parameter* const p = formal(parameters, i);
    if (!p) return bad("has {} {}s, takes {}", count, what, range_of(least, parameters.size(), is_variadic));
    const bool needed = p->option == parameter_option::single || i < count;
    if (!needed || p->option == parameter_option::optional || (i < count && present(i))) continue;
    if (p->option == parameter_option::variadic && i < count)
      return bad("{} {} of {} ('{}') is left out: none of variadic {}s may be", what, i + 1, count, p->name, what);
    return bad("{} '{}' is missing: it has {} {}s, takes {}", what, p->name, count, what,
               range_of(least, parameters.size(), is_variadic));
  }
  if (count < least) return bad("has {} {}s, takes {}", count, what, range_of(least, parameters.size(), is_variadic));
  return status_code::ok;
}

status check_attribute(const detail::graph_node& n, const attribute& a, const attribute_rule* rule, bool in_function) {
  if (!a.ref_attr_name.empty()) {
    if (!in_function)
      return bad("attribute '{}' refers to '{}' of a caller, but this is not a function", a.name, a.ref_attr_name);
    if (a.kind == attribute_kind::undefined) return status_code::ok;
  }
  // The value of an attribute of the caller is checked where the function is inlined.
  if (rule && (a.ref_attr_name.empty() || rule->kind != a.kind))
    if (status fine = detail::check_attribute(*rule, a); !fine) return fine;
  if (!a.ref_attr_name.empty()) return status_code::ok;
  const auto exists = [&](std::int64_t i) { return i >= 0 && std::size_t(i) < n.subgraphs.size(); };
  if ((a.kind == attribute_kind::g && !exists(a.i)) ||
      (a.kind == attribute_kind::graphs && !std::all_of(a.ints.begin(), a.ints.end(), exists)))
    return bad("attribute '{}' names a graph that the node does not have", a.name);
  return status_code::ok;
}

/// An attribute that the operator does not have is an error, unless ONNX Runtime does not check the operator's
/// attributes.
status check_unknown_attribute(graph& g, const detail::graph_node& n, const attribute& a) {
  if (has_unchecked_attributes(*n.op)) {
    tolerate(g.owner(), oddity::unknown_attribute,
             "{} has attribute '{}', which its operator does not have; it is ignored", describe(g, n), a.name);
    return status_code::ok;
  }
  const std::span<const attribute_rule> rules = n.version->attributes;
  if (rules.empty()) return bad("has no attribute '{}'; it takes none", a.name);
  const auto quoted = [](const attribute_rule& r) { return fmt::format("'{}'", r.name); };
  return bad("has no attribute '{}'; it takes {}", a.name, fmt::join(rules | ranges::views::transform(quoted), ", "));
}

status check_attributes(graph& g, const detail::graph_node& n, const op_table& ops, bool in_function) {
  const std::span<const attribute_rule> rules = n.version->attributes;
  const bool is_context = detail::has_role(n.op->roles, role::is_compiled_context);
  const bool all_declared = !is_context && (is_standard(ops, n.op) || !rules.empty());
  std::vector<std::string_view> names;
  for (const attribute& a : n.attributes) {
    names.push_back(a.name);
    const auto rule =
        std::find_if(rules.begin(), rules.end(), [&](const attribute_rule& r) { return r.name == a.name; });
    const bool is_known = rule != rules.end();
    if (!is_known && all_declared && !a.name.starts_with("__"))
      if (status fine = check_unknown_attribute(g, n, a); !fine) return fine;
    if (status fine = check_attribute(n, a, is_known ? &*rule : nullptr, in_function); !fine) return fine;
  }
  for (const attribute_rule& rule : rules)
    if (rule.required && !detail::find_attribute(n.attributes, rule.name))
      return bad("attribute {} ({}) is missing", rule.name, detail::attribute_kind_rows[std::size_t(rule.kind)].name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    return bad("has attribute '{}' twice", *twice);
  return status_code::ok;
}

/// Checks that a value has a unique name and one source.
status check_value(const graph& g, value_id id) {
  const detail::graph_value& v = g[id];
  const bool is_capture = v.outer != value_id::none, is_used = v.use_count > 0 || v.is_output;
  if (!is_capture && is_used && !v.name.empty() && g.find(v.name) != id)
    return bad("two values are named '{}': names must be unique within a graph", v.name);
  const bool is_made = v.producer != node_id::none;
  if (is_made && (v.is_input || is_capture))
    return bad("{} makes '{}', which is {} already", describe(g, g[v.producer]), v.name,
               v.is_input ? "a graph input" : "a value of the enclosing graph");
  if (!is_used || is_made || v.is_input || is_capture || v.constant) return status_code::ok;
  const auto uses = g.uses(id);
  const std::string reader = uses.empty() ? std::string{"a graph output"} : describe(g, g[(*uses.begin()).node]);
  return failed(status_code::invalid_argument,
                "'{}', used by {}, is not an input, an initializer or an output of a node", v.name, reader);
}

status check_values(const graph& g) {
  std::vector<bool> is_input(g.value_count(), false);
  for (value_id v : g.inputs()) {
    if (is_input[index_of(v)]) return bad("input '{}' is given twice", g[v].name);
    is_input[index_of(v)] = true;
  }
  for (std::size_t i = 0; i < g.value_count(); ++i)
    if (status fine = check_value(g, value_id{std::uint32_t(i)}); !fine) return fine;
  for (value_id v : g.initializers())
    if (g[v].producer != node_id::none)
      return bad("{} makes '{}', which is an initializer already", describe(g, g[g[v].producer]), g[v].name);
  return status_code::ok;
}

status check_outputs(const graph& g, node_id id) {
  const detail::graph_node& n = g[id];
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    if (n.outputs[i] == value_id::none) continue;
    const detail::graph_value& v = g[n.outputs[i]];
    if (v.producer == id && v.producer_output == i) continue;
    if (v.producer == id || v.producer == node_id::none) return bad("makes '{}' twice", v.name);
    return bad("makes '{}', which {} makes too", v.name, describe(g, g[v.producer]));
  }
  return status_code::ok;
}

/// Checks all that needs no types, in a graph and its subgraphs, and sorts them.
status check_structure(graph& g, const op_table& ops, bool in_function, std::size_t depth) {
  if (depth > max_graph_depth) return bad("graph '{}' is nested more than {} deep", g.name, max_graph_depth);
  if (status fine = check_values(g); !fine) return fine;
  for (std::size_t i = 0; i < g.node_capacity(); ++i) {
    const node_id id{std::uint32_t(i)};
    if (g[id].removed) continue;
    const auto where = [&](status wrong) { return std::move(wrong).in(describe(g, g[id])); };
    if (status fine = check_outputs(g, id); !fine) return where(std::move(fine));
    if (status fine = check_node(g, id, ops, in_function); !fine) return where(std::move(fine));
    for (graph* body : g[id].subgraphs)
      if (status fine = check_structure(*body, ops, in_function, depth + 1); !fine)
        return where(std::move(fine).in(fmt::format("body '{}'", body->name)));
  }
  return g.sort();
}

/// Separates what the file declares of values from what holds in every run. A run may contradict declared sizes. Kinds
/// and element types stay, since the outputs of every kernel are checked against them. Only values that a caller passes
/// to the main graph keep their declared sizes, because each run checks its inputs.
class declared_types {
 public:
  explicit declared_types(model& of) : model_{of} {}

  /// Treats a graph and its subgraphs.
  void separate(graph& g) {
    const bool is_main = &g == &model_.main();
    for (std::size_t i = 0; i < g.value_count(); ++i) {
      detail::graph_value& v = g[value_id{std::uint32_t(i)}];
      const bool is_given = is_main && v.is_input;
      if (!v.type || (is_given && !holds_sequence(*v.type))) continue;
      if (!v.declared) v.declared = v.type;  // a model that is checked again has inferred types
      // A run compares the sizes of a sequence's elements with numbers, not with each other.
      v.type = is_given ? model_.keep(without_symbols(*v.type)) : bare(*v.type);
    }
    for (std::size_t i = 0; i < g.node_capacity(); ++i)
      for (graph* body : g[node_id{std::uint32_t(i)}].subgraphs) separate(*body);
  }

 private:
  static bool holds_sequence(const value_type& type) {
    return type.kind == type_kind::sequence || (type.element && holds_sequence(*type.element));
  }
  /// Tensors of one element type share one type object, since a graph may have a million values.
  const value_type* bare(const value_type& type) {
    if (!type.is_tensor() || !type.denotation.empty()) return model_.keep(without_shapes(type));
    const value_type*& made = tensors_[std::size_t(type.type)];
    if (!made) made = model_.keep(value_type::tensor(type.type));
    return made;
  }

  model& model_;
  std::array<const value_type*, std::size_t(dtype::count)> tensors_{};
};

/// Collects the functions that nodes of a graph or of its subgraphs call.
void add_callees(const graph& g, std::set<const function*>& to) {
  for (std::size_t i = 0; i < g.node_capacity(); ++i) {
    const detail::graph_node& n = g[node_id{std::uint32_t(i)}];
    if (n.removed) continue;
    if (const function* const callee = g.owner().find_function(n.domain, n.op_type, n.overload)) to.insert(callee);
    for (const graph* body : n.subgraphs) add_callees(*body, to);
  }
}

std::set<const function*> called_functions(const model& m) {
  std::set<const function*> made;
  add_callees(m.main(), made);
  for (const function& f : m.functions) add_callees(*f.body, made);
  return made;
}

/// Checks a function. `called` is filled when a function turns out to be broken.
status check_function(model& m, const function& f, const op_table& ops,
                      std::optional<std::set<const function*>>& called) {
  if (m.find_function(f.domain, f.name, f.overload) != &f)
    return bad("there are two of this name; names of functions must be unique");
  status fine = check_structure(*f.body, ops, true, 0);
  if (fine) return fine;
  if (!called) called = called_functions(m);
  if (called->contains(&f)) return fine;
  tolerate(m, oddity::broken_unused_function, "function '{}': {}; nothing calls it", function_name(f), fine.words());
  return status_code::ok;
}

status check_whole(model& m, const op_table& ops) {
  graph& main = m.main();
  const std::span<const node_id> order = main.order();
  if (order.empty() && main.node_capacity() == 0 && main.outputs().empty())
    return failed(status_code::invalid_argument, "the graph is empty: it has neither nodes nor outputs");
  for (const function& f : m.functions)
    if (!f.body) return bad("function '{}' has no body; give it a graph, or remove it", function_name(f));
  std::optional<std::set<const function*>> called;
  for (const function& f : m.functions)
    if (status fine = check_function(m, f, ops, called); !fine)
      return std::move(fine).in(fmt::format("function '{}'", function_name(f)));
  if (status fine = check_structure(main, ops, false, 0); !fine) return fine;
  if (status fine = check_calls(m); !fine) return fine;
  declared_types declared{m};
  declared.separate(main);
  for (const function& f : m.functions) declared.separate(*f.body);
  return inference{m, &ops}.run(main);
}

}  // namespace

namespace {

/// True if ONNX or ONNX Runtime has an operator with the node's name at its opset.
bool is_an_operator(const detail::graph_node& n, const op_table& ops) {
  const op_row* const row = detail::find_op(ops.standard, n.domain, n.op_type);
  const op_version* const version = row && n.opset >= 1 ? row->at(n.opset) : nullptr;
  return version && !version->deprecated;
}

}  // namespace

status resolve_node(graph& g, node_id id, const op_table& ops) {
  detail::graph_node& n = g[id];
  n.op = nullptr;
  n.version = nullptr;
  n.shapes_fit = false;
  n.callee = g.owner().find_function(n.domain, n.op_type, n.overload);
  if (n.callee && is_an_operator(n, ops)) {
    tolerate(g.owner(), oddity::function_named_as_operator,
             "{}: the model has a function of this name; it is not called", describe(g, n));
    n.callee = nullptr;
  }
  if (n.callee) return status_code::ok;
  const op_row* const row = ops.find(n.domain, n.op_type);
  const std::string_view domain = domain_name(n.domain);
  if (!row && !ops.has_domain(n.domain))
    return failed(
        status_code::fail,
        "no provider declares an operator of domain '{}': give the runtime a provider that declares '{}', or the "
        "model a function of this name",
        domain, n.op_type);
  if (!row) return bad("there is no operator '{}' in domain '{}' at opset {}", n.op_type, domain, n.opset);
  if (n.opset < 1) return bad("the model imports no opset of domain '{}', or one below 1", domain);
  const op_version* const version = row->at(n.opset);
  if (!version)
    return bad("there is no operator '{}' in domain '{}' at opset {}; it appears in opset {}", n.op_type, domain,
               n.opset, row->versions.empty() ? 0 : row->versions.front().since);
  if (version->deprecated)
    return bad("operator '{}' of domain '{}' is deprecated since opset {}; the model imports opset {}", n.op_type,
               domain, version->since, n.opset);
  n.op = row;
  n.version = version;
  return status_code::ok;
}

status resolve_and_check_node(graph& g, node_id id, const op_table& ops) {
  return guarded([&]() -> status { return check_node(g, id, ops, false); });
}

status check_node(graph& g, node_id id, const op_table& ops, bool in_function) {
  if (status found = resolve_node(g, id, ops); !found) return found;
  const detail::graph_node& n = g[id];
  if (n.callee) {
    const graph& body = *n.callee->body;
    if (n.input_count > body.inputs().size())
      return bad("has {} inputs, but function '{}' takes {}", n.input_count, function_name(*n.callee),
                 body.inputs().size());
    if (n.outputs.size() > body.outputs().size())
      return bad("has {} outputs, but function '{}' makes {}", n.outputs.size(), function_name(*n.callee),
                 body.outputs().size());
    for (const attribute& a : n.attributes)
      if (status fine = check_attribute(n, a, nullptr, in_function); !fine) return fine;
    return status_code::ok;
  }
  if (detail::has_role(n.op->roles, role::is_constant)) {
    const op_version* const allowing = version_of_constant(n);
    if (allowing != n.version)
      tolerate(g.owner(), oddity::early_constant, "{} has what is allowed from opset {} on", describe(g, n),
               allowing->since);
    g[id].version = allowing;
  }
  const op_version& version = *n.version;
  if (status fine = check_arity("input", version.inputs, version.min_inputs, n.input_count, true,
                                [&](std::size_t i) { return g.input(id, i) != value_id::none; });
      !fine)
    return fine;
  if (status fine = check_arity("output", version.outputs, version.min_outputs, n.outputs.size(), false,
                                [&](std::size_t i) { return n.outputs[i] != value_id::none; });
      !fine)
    return fine;
  if (status fine = check_attributes(g, n, ops, in_function); !fine) return fine;
  return detail::check_presence(
      version, n.attributes, [&](std::size_t i) { return i < n.input_count && g.input(id, i) != value_id::none; },
      [&](std::size_t i) { return i < n.outputs.size() && n.outputs[i] != value_id::none; });
}

status check_model(model& m, const op_table& ops) {
  return guarded([&]() -> status {
    status fine = check_whole(m, ops);
    return fine || m.path.empty() ? std::move(fine) : std::move(fine).in(m.path);
  });
}

}  // namespace CAMEO_NAMESPACE
