#pragma once
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>

#include <string>
#include <vector>

#include "lists.hpp"

namespace cameo::test {

/// A model under construction: inputs with values, nodes, outputs, then one run by the cpu provider in a session.
/// Inputs are declared by type and rank only, so kernels cannot use their sizes and contents when they are bound.
class model_run {
 public:
  explicit model_run(std::int64_t opset) : opset_{opset} {
    model_->imports.push_back({"", opset}), model_->ir_version = 10;
  }

  model_run& input(std::string_view name, any_value v) {
    add_input(model_->main(), name, type_of(v.view()));
    feeds_.emplace_back(name, std::move(v));
    return *this;
  }
  /// A subgraph as the attribute `name` of the next node; `fill` adds its inputs, nodes and outputs.
  template <class F>
  model_run& body(std::string_view name, F&& fill) {
    graph& inner = model_->add_graph(&model_->main());
    attribute a{*model_->memory.copy(name), attribute_kind::g};
    a.i = std::int64_t(bodies_.size());
    bodies_.push_back(&inner);
    attributes_.push_back(a);
    fill(inner);
    return *this;
  }
  model_run& set(std::string_view name, std::int64_t i) {
    attribute a{name, attribute_kind::i};
    a.i = i;
    return attributes_.push_back(a), *this;
  }
  model_run& set(std::string_view name, std::string_view s) {
    attribute a{name, attribute_kind::s};
    a.s = s;
    return attributes_.push_back(a), *this;
  }
  model_run& set(std::string_view name, const std::vector<std::int64_t>& ints) {
    attribute a{name, attribute_kind::ints};
    a.ints = *model_->memory.copy(std::span<const std::int64_t>{ints});
    return attributes_.push_back(a), *this;
  }
  model_run& set(std::string_view name, const std::vector<std::string_view>& strings) {
    attribute a{name, attribute_kind::strings};
    a.strings = *model_->memory.copy(std::span<const std::string_view>{strings});
    return attributes_.push_back(a), *this;
  }
  /// A node with the attributes and subgraphs that were added since the last node. "" leaves an input or output out.
  model_run& node(std::string_view op, const std::vector<std::string_view>& in,
                  const std::vector<std::string_view>& out) {
    add_node(model_->main(), op, in, out);
    return *this;
  }
  /// Loads the model with these outputs and runs it; wrong attributes are errors of loading.
  result<named_values> run(const std::vector<std::string_view>& outputs, const run_settings& settings = {},
                           const session_options& options = {}) {
    for (std::string_view name : outputs) model_->main().add_output(model_->main().find(name));
    result<session> loaded = runtime<eps::cpu>{}.load(std::move(model_), options);
    if (!loaded) return loaded.error();
    std::vector<named_input> in;
    for (const auto& [name, v] : feeds_) in.emplace_back(name, v);
    return loaded->run(in, settings);
  }

  // These functions also build subgraphs.
  static void add_input(graph& g, std::string_view name, value_type type) {
    g.add_input(g.add_value(name, g.owner().keep(std::move(type))));
  }
  void add_node(graph& g, std::string_view op, const std::vector<std::string_view>& in,
                const std::vector<std::string_view>& out) {
    std::vector<value_id> inputs, outputs;
    for (std::string_view n : in) inputs.push_back(n.empty() ? value_id::none : g.resolve(n));
    for (std::string_view n : out) outputs.push_back(n.empty() ? value_id::none : g.add_value(n));
    const bool outside = &g == &model_->main();
    const std::string name = "the " + std::string{op};
    g.add_node({name,
                "",
                op,
                {},
                {},
                opset_,
                inputs,
                outputs,
                outside ? std::span<const attribute>{attributes_} : std::span<const attribute>{},
                outside ? std::span<graph* const>{bodies_} : std::span<graph* const>{},
                {}});
    if (outside) attributes_.clear(), bodies_.clear();
  }
  static void add_output(graph& g, std::string_view name) { g.add_output(g.find(name)); }

  /// The type of a tensor with this rank and unknown sizes.
  static value_type tensor(dtype type, std::size_t rank) { return value_type::tensor(type, std::vector<dim>(rank)); }

 private:
  static value_type type_of(const value& v) {
    if (v.kind == value_kind::sequence)
      return value_type::sequence(value_type::tensor(v.parts.empty() ? v.type : v.parts[0].type));
    return tensor(v.type, v.shape.rank());
  }

  std::unique_ptr<model> model_ = std::make_unique<model>();
  std::int64_t opset_;
  std::vector<std::pair<std::string, any_value>> feeds_;
  std::vector<attribute> attributes_;
  std::vector<graph*> bodies_;
};

/// A tensor of rank 0.
inline any_value scalar(std::int64_t n) { return any_value::tensor<std::int64_t>({}, {n}); }

template <class T>
std::vector<T> elements_of(const value& v) {
  return v.kind == value_kind::tensor && v.type == dtype_of<T>
             ? std::vector<T>(v.as_unchecked<T>().begin(), v.as_unchecked<T>().end())
             : std::vector<T>{};
}

}  // namespace cameo::test
