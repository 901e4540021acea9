#pragma once
// Builds small models in memory, for examples that need a particular model. Programs usually load a file instead.
#include <cameo/cameo.hpp>
#include <cameo/graph/model.hpp>

#include <initializer_list>
#include <memory>
#include <vector>

namespace examples {

/// Builds a graph from the names of its values. Add inputs and constants first, then nodes in order of execution,
/// outputs last.
class graph_builder {
 public:
  graph_builder(cameo::graph& into, std::int64_t opset) : graph_{into}, opset_{opset} {}

  cameo::graph& graph() { return graph_; }

  /// Adds a tensor as an input of the graph. A dim below 0 is unknown until a run.
  graph_builder& input(const char* name, cameo::dtype type, std::initializer_list<std::int64_t> dims) {
    std::vector<cameo::dim> shape;
    for (const std::int64_t d : dims) shape.push_back(d < 0 ? cameo::dim{} : cameo::dim::fixed(d));
    graph_.add_input(graph_.add_value(name, model().keep(cameo::value_type::tensor(type, shape))));
    return *this;
  }
  /// Adds a constant; the model stores a copy of the elements. If memory is full, the constant is missing and loading
  /// fails.
  template <cameo::element_type T>
  graph_builder& constant(const char* name, const cameo::extents& shape, const std::vector<T>& elements) {
    const auto kept = model().memory.copy(std::span<const T>{elements});
    if (!kept) return *this;
    std::vector<cameo::dim> dims;
    for (const std::int64_t d : shape) dims.push_back(cameo::dim::fixed(d));
    graph_.add_initializer(graph_.add_value(name, model().keep(cameo::value_type::tensor(cameo::dtype_of<T>, dims))),
                           model().memory.keep(cameo::value::tensor<T>(shape, *kept)));
    return *this;
  }
  /// Adds a node with one output, whose name is also the node's name. An input "" is absent. Domains other than ONNX's
  /// are imported in version 1.
  graph_builder& node(const char* op, std::initializer_list<const char*> inputs, const char* output,
                      std::initializer_list<cameo::attribute> attributes = {}, const char* domain = "",
                      std::initializer_list<cameo::graph*> subgraphs = {}) {
    if (*domain && model().opset(domain) == 0) model().imports.push_back({domain, 1});
    std::vector<cameo::value_id> from;
    for (const char* name : inputs) from.push_back(*name ? graph_.find(name) : cameo::value_id::none);
    const cameo::value_id to = graph_.add_value(output);
    cameo::node_spec spec;
    spec.name = output, spec.domain = domain, spec.op_type = op, spec.opset = *domain ? 1 : opset_;
    spec.inputs = from, spec.outputs = {&to, 1};
    spec.attributes = {attributes.begin(), attributes.size()}, spec.subgraphs = {subgraphs.begin(), subgraphs.size()};
    graph_.add_node(spec);
    return *this;
  }
  graph_builder& output(const char* name) {
    graph_.add_output(graph_.find(name));
    return *this;
  }

 protected:
  cameo::model& model() { return graph_.owner(); }
  cameo::graph& graph_;
  std::int64_t opset_;
};

/// Builds a model through its main graph.
class model_builder : public graph_builder {
 public:
  explicit model_builder(std::int64_t opset = 17) : model_builder{std::make_unique<cameo::model>(), opset} {}
  /// Returns the builder of a graph for a node's attribute, which may read the values that the main graph already has.
  graph_builder subgraph() { return {model_->add_graph(&graph_), opset_}; }
  std::unique_ptr<cameo::model> finish() { return std::move(model_); }

 private:
  model_builder(std::unique_ptr<cameo::model> made, std::int64_t opset)
      : graph_builder{made->main(), opset}, model_{std::move(made)} {
    model_->ir_version = 10;
    model_->imports = {{"", opset}};
  }
  std::unique_ptr<cameo::model> model_;
};

}  // namespace examples
