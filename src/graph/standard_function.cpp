#include "standard_function.hpp"

#include "messages.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// Calls take(name) for each name of "a,b", which may be empty.
template <class F>
void each_name(std::string_view names, F&& take) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    take(names.substr(0, end));
    if (end + 1 == names.size()) take(std::string_view{});
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

/// Fills a graph with the nodes of a row, and with the graphs of those nodes.
class body_maker {
 public:
  body_maker(model& to, std::int64_t opset) : model_{to}, opset_{opset} {}

  void fill(graph& to, const function_body_row::graph_row& from) {
    to.name = from.name;
    for (const function_body_row::input_row& input : from.inputs) {
      const bool is_typed = input.type != dtype::undefined;
      to.add_input(to.add_value(input.name, is_typed ? model_.keep(value_type::tensor(input.type, {})) : nullptr));
    }
    for (const function_body_row::node_row& n : from.nodes) add_node(to, n);
    each_name(from.outputs, [&](std::string_view name) { to.add_output(to.resolve(name)); });
  }

 private:
  void add_node(graph& to, const function_body_row::node_row& from) {
    std::vector<attribute> attributes;
    std::vector<graph*> subgraphs;
    for (const function_body_row::attribute_row& a : from.attributes) attributes.push_back(made_of(a, to, subgraphs));
    std::vector<value_id> inputs, outputs;
    each_name(from.inputs,
              [&](std::string_view name) { inputs.push_back(name.empty() ? value_id::none : to.resolve(name)); });
    each_name(from.outputs,
              [&](std::string_view name) { outputs.push_back(name.empty() ? value_id::none : to.add_value(name)); });
    to.add_node({.name = {},
                 .domain = {},
                 .op_type = from.op_type,
                 .opset = opset_,
                 .inputs = inputs,
                 .outputs = outputs,
                 .attributes = attributes,
                 .subgraphs = subgraphs});
  }
  attribute made_of(const function_body_row::attribute_row& from, graph& around, std::vector<graph*>& subgraphs) {
    attribute made{.name = from.name, .kind = from.kind, .f = from.f, .i = from.i};
    made.ints = from.ints;
    made.ref_attr_name = from.of_caller;
    if (!from.of_caller.empty()) return made;
    if (from.kind == attribute_kind::t) {
      const value scalar = value::tensor<float>({}, std::span{&from.f, 1});
      made.tensors = or_throw(model_.memory.copy(std::span{&scalar, 1}));
    } else if (from.g) {
      made.i = std::int64_t(subgraphs.size());
      fill(*subgraphs.emplace_back(&model_.add_graph(&around)), *from.g);
    }
    return made;
  }

  model& model_;
  std::int64_t opset_;
};

}  // namespace

function make_function(model& to, const function_body_row& row) {
  function made;
  made.name = row.graph.name;
  made.attribute_names = row.attribute_names;
  const opset_import import{{}, row.needs_opset};
  made.imports = or_throw(to.memory.copy(std::span{&import, 1}));
  made.body = std::make_unique<graph>(to, nullptr);
  body_maker{to, row.needs_opset}.fill(*made.body, row.graph);
  return made;
}

}  // namespace CAMEO_NAMESPACE
