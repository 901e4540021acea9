#include "onnx_part.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/graph/symbol_names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

/// A constant of the graph itself that no caller can replace.
const value* constant_in(const graph& g, value_id v) {
  return g[v].is_input || g[v].outer != value_id::none ? nullptr : g[v].constant;
}

/// A node in messages: "node 'conv'"; a node without a name is identified by its output.
std::string called(const graph& g, const detail::graph_node& node) {
  if (!node.name.empty()) return fmt::format("node '{}'", node.name);
  for (value_id v : node.outputs)
    if (v != value_id::none) return fmt::format("the node that makes '{}'", g[v].name);
  return "a node without a name";
}

/// Imports one opset for each domain, the model's if it has one. INVALID_GRAPH if a node has another version of its
/// operator at this opset: nodes from bodies of functions may have been written for another opset.
status import_domains(const graph_part& part, model& to) {
  std::map<std::string_view, std::int64_t> opsets;
  for (node_id n : part.nodes) {
    const detail::graph_node& node = (*part.source)[n];
    std::int64_t& opset = opsets[node.domain];
    const std::int64_t imported = part.source->owner().opset(node.domain);
    opset = imported > 0 ? imported : std::max(opset, node.opset);
  }
  for (const auto& [domain, opset] : opsets) to.imports.push_back({domain, opset});
  for (node_id n : part.nodes) {
    const detail::graph_node& node = (*part.source)[n];
    if (node.op && node.version && node.op->at(opsets[node.domain]) != node.version)
      return {status_code::invalid_graph,
              fmt::format("{} ({}) is of opset {}, and others here of opset {}, which has another {}",
                          called(*part.source, node), node.op_type, node.opset, opsets[node.domain], node.op_type)};
  }
  return {};
}

}  // namespace

graph_part all_of(const graph& g) {
  const auto listed = [](auto ids) { return std::vector(ids.begin(), ids.end()); };
  return {&g, listed(g.order()), listed(g.inputs()), listed(g.outputs())};
}

graph_part part_of(const graph& g, std::span<const node_id> nodes, std::size_t largest_constant) {
  graph_part part{&g, {nodes.begin(), nodes.end()}, {}, {}};
  std::unordered_set<std::size_t> inside, seen;
  for (node_id n : nodes) inside.insert(index_of(n));
  for (node_id n : nodes)
    for (std::size_t i = 0; i < g.input_count(n); ++i) {
      const value_id v = g.input(n, i);
      if (v == value_id::none || !seen.insert(index_of(v)).second) continue;
      if (g[v].producer != node_id::none && inside.count(index_of(g[v].producer))) continue;
      const value* const constant = constant_in(g, v);
      if (!constant || (constant->kind == value_kind::tensor && constant->bytes() > largest_constant))
        part.inputs.push_back(v);
    }
  for (node_id n : nodes)
    for (value_id v : g[n].outputs) {
      if (v == value_id::none) continue;
      bool read_outside = g[v].is_output || g[v].use_count == 0;
      for (const graph::use u : g.uses(v)) read_outside |= !inside.count(index_of(u.node));
      if (read_outside) part.outputs.push_back(v);
    }
  return part;
}

result<std::string> onnx_bytes(const graph_part& part) {
  const graph& g = *part.source;
  model made;  // refers to texts, types and constants of the graph's model, which outlives it
  made.ir_version = 8;
  made.symbols = distinct_symbol_names(g.owner());
  if (status s = import_domains(part, made); !s) return s;
  graph& body = made.main();
  body.name = g.name.empty() ? std::string_view{"part"} : g.name;
  std::unordered_map<std::size_t, value_id> twin;
  const auto copy_of = [&](value_id v) {
    if (v == value_id::none) return v;
    const auto [at, fresh] = twin.try_emplace(index_of(v), value_id::none);
    if (fresh) at->second = body.add_value(g[v].name, g[v].type);
    return at->second;
  };
  for (value_id v : part.inputs) body.add_input(copy_of(v));
  std::vector<value_id> ins, outs;
  for (node_id n : part.nodes) {
    ins.clear(), outs.clear();
    for (std::size_t i = 0; i < g.input_count(n); ++i) {
      const value_id v = g.input(n, i);
      const bool is_new = v != value_id::none && !twin.count(index_of(v));
      ins.push_back(copy_of(v));
      if (is_new && constant_in(g, v)) body.add_initializer(ins.back(), g[v].constant);
    }
    for (value_id v : g[n].outputs) outs.push_back(copy_of(v));
    const detail::graph_node& from = g[n];
    body.add_node({from.name, from.domain, from.op_type, {}, {}, from.opset, ins, outs, from.attributes, {}, {}});
  }
  for (value_id v : part.outputs) body.add_output(copy_of(v));
  return write_onnx(made);
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
