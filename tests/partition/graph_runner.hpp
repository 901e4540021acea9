#pragma once
#include "partition/reference_providers.hpp"

#include <cstring>
#include <map>

/// A compiling provider that can run any group: its programs are sessions of cpu alone.
namespace cameo::test {

/// Copies a graph and its subgraphs into a graph of another model. Constants are shared.
inline void copy_graph(const graph& from, graph& to) {
  std::vector<value_id> twin(from.value_count(), value_id::none);
  for (std::size_t i = 0; i < twin.size(); ++i) {
    const detail::graph_value& v = from[value_id(i)];
    value_type type = v.type ? *v.type : value_type{};
    if (type.shape)
      for (dim& d : *type.shape)
        if (!d.known()) d = dim{};  // symbols belong to the other model
    twin[i] =
        v.outer != value_id::none ? to.resolve(v.name) : to.add_value(v.name, v.type ? to.owner().keep(type) : nullptr);
  }
  const auto twins = [&](std::span<const value_id> values) {
    std::vector<value_id> made;
    for (value_id v : values) made.push_back(v == value_id::none ? v : twin[index_of(v)]);
    return made;
  };
  for (value_id v : twins(from.inputs())) to.add_input(v);
  for (value_id v : from.initializers()) to.add_initializer(twin[index_of(v)], from[v].constant);
  for (node_id n : from.order()) {
    const detail::graph_node& node = from[n];
    std::vector<graph*> subgraphs;
    for (const graph* sub : node.subgraphs) {
      subgraphs.push_back(&to.owner().add_graph(&to));
      copy_graph(*sub, *subgraphs.back());
    }
    std::vector<value_id> read;
    for (std::size_t i = 0; i < node.input_count; ++i) read.push_back(from.input(n, i));
    to.add_node({node.name,
                 node.domain,
                 node.op_type,
                 {},
                 {},
                 node.opset,
                 twins(read),
                 twins(node.outputs),
                 node.attributes,
                 subgraphs});
  }
  for (value_id v : twins(from.outputs())) to.add_output(v);
}

/// A group that runs as a session.
struct session_program {
  std::shared_ptr<session> inside;

  static result<session_program> make(const graph& body) {
    auto m = std::make_unique<model>();
    m->ir_version = 10, m->imports = body.owner().imports;
    copy_graph(body, m->main());
    session_options options;
    options.threads = 1;
    auto made = runtime<eps::cpu>{}.load(std::move(m), options);
    if (!made) return made.error();
    return session_program{std::make_shared<session>(std::move(*made))};
  }
  status run(run_context& c) const {
    std::vector<named_input> inputs;
    for (std::size_t i = 0; i < c.input_count(); ++i) inputs.emplace_back(inside->inputs()[i].name, c.input(i));
    const auto made = inside->run(inputs);
    if (!made) return made.error();
    for (std::size_t i = 0; i < made->size(); ++i) {
      const value& from = (*made)[i].value;
      const auto to = c.output(i, from.shape);
      if (!to) return to.error();
      std::memcpy((*to)->data, from.data, from.bytes());
    }
    return {};
  }
};

/// Takes the nodes of these operators, as one group of each graph, and records the bodies.
struct whole_taker {
  static constexpr std::string_view name = "whole", long_name = "Whole";
  std::set<std::string, std::less<>> operators;
  bool insists = false;
  std::shared_ptr<std::vector<std::string>> seen = std::make_shared<std::vector<std::string>>();
  std::function<void(const graph&)> look = {};

  result<groups_result> groups(const graph_view& g) const {
    node_group mine{{}, "all", insists};
    for (node_view n : g.nodes())
      if (operators.count(n.op_type()) && (insists || n.provider() < 0)) mine.nodes.push_back(n.id());
    return mine.nodes.empty() ? groups_result{} : groups_result{mine};
  }
  programs compile(std::span<const fused_view> fused) const {
    std::vector<compiled_node> made;
    for (const fused_view& each : fused) {
      seen->push_back(describe(each.body.raw()));
      if (look) look(each.body.raw());
      auto program = session_program::make(each.body.raw());
      if (!program) return program.error();
      made.push_back(compiled(std::move(*program)));
    }
    return made;
  }
  /// "in x w; has c; Relu If; out y": inputs, initializers, operators and outputs of a graph.
  static std::string describe(const graph& g) {
    std::string text = "in";
    for (value_id v : g.inputs()) text += " " + std::string{g[v].name};
    text += "; has";
    for (value_id v : g.initializers()) text += " " + std::string{g[v].name};
    text += ";";
    for (node_id n : g.order()) text += " " + std::string{g[n].op_type};
    text += "; out";
    for (value_id v : g.outputs()) text += " " + std::string{g[v].name};
    return text;
  }
};

}  // namespace cameo::test
