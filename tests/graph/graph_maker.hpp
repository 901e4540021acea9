#pragma once
#include <cameo/graph/check.hpp>
#include <cameo/op/infer.hpp>

#include <initializer_list>
#include <string>

#include "../format/texts.hpp"

/// Operators of a test domain, and short functions to build graphs of them.
namespace cameo::test {

inline constexpr detail::type_mask reals = mask_of<float, double>;
inline constexpr parameter x_and_y[] = {{"X", "T"}, {"Y", "T"}}, only_x[] = {{"X", "T"}}, only_z[] = {{"Z", "T"}};
inline constexpr type_rule t_reals[] = {{"T", reals}};
inline constexpr type_rule t_any[] = {{"T", 0x1FFFFFE, 0x1FFFFFE}};

/// Z = X + Y, with equal shapes.
struct Plus {
  static constexpr std::string_view domain = "test", name = "Plus";
  static constexpr op_version versions[] = {{1, x_and_y, only_z, t_reals, {}, 2, 1}};
  static status infer(infer_context& c) {
    if (c.has_input(0)) c.set_output(0, *c.input(0));
    return status_code::ok;
  }
};
/// An operator without a shape function: the element type of its output follows from the type string.
struct Negate {
  static constexpr std::string_view domain = "test", name = "Negate";
  static constexpr op_version versions[] = {{1, only_x, only_z, t_reals, {}, 1, 1}};
};
struct Scale {
  static constexpr std::string_view domain = "test", name = "Scale";
  static constexpr attribute_rule attributes[] = {{"by", attribute_kind::f, true}, {"times", attribute_kind::i}};
  static constexpr parameter inputs[] = {{"X", "T"}, {"Bias", "T", parameter_option::optional}};
  static constexpr op_version versions[] = {{1, inputs, only_z, t_reals, attributes, 1, 1},
                                            {3, inputs, only_z, t_reals, attributes, 1, 1, true}};
  static status infer(infer_context& c) { return Plus::infer(c); }
};
struct Late {
  static constexpr std::string_view domain = "test", name = "Late";
  static constexpr op_version versions[] = {{7, only_x, only_z, t_reals, {}, 1, 1}};
};
struct Join {
  static constexpr std::string_view domain = "test", name = "Join";
  static constexpr parameter all[] = {{"all", "T", parameter_option::variadic, true, 2}};
  static constexpr op_version versions[] = {{1, all, only_z, t_any, {}, 2, 1}};
};
struct Hold {
  static constexpr std::string_view domain = "test", name = "Hold";
  static constexpr role roles = role::is_constant;
  static constexpr attribute_rule attributes[] = {
      {"value", attribute_kind::t}, {"value_ints", attribute_kind::ints}, {"value_float", attribute_kind::f}};
  static constexpr op_version versions[] = {{1, {}, only_z, t_any, attributes, 0, 1}};
};
struct Copy {
  static constexpr std::string_view domain = "test", name = "Copy";
  static constexpr role roles = role::is_identity;
  static constexpr op_version versions[] = {{1, only_x, only_z, t_any, {}, 1, 1}};
  static status infer(infer_context& c) {
    if (c.has_input(0)) c.set_output(0, *c.input(0));
    return status_code::ok;
  }
};
/// Runs its body once, with the inputs of the node.
struct Once {
  static constexpr std::string_view domain = "test", name = "Once";
  static constexpr role roles = role::has_subgraphs;
  static constexpr parameter in[] = {{"in", "V", parameter_option::variadic, false, 0}};
  static constexpr parameter out[] = {{"out", "V", parameter_option::variadic, false, 1}};
  static constexpr type_rule types[] = {{"V", 0x1FFFFFE, 0x1FFFFFE}};
  static constexpr attribute_rule attributes[] = {{"body", attribute_kind::g, true}};
  static constexpr op_version versions[] = {{1, in, out, types, attributes, 0, 1}};
  static status infer(infer_context& c) {
    std::vector<const value_type*> inputs;
    for (std::size_t i = 0; i < c.input_count(); ++i) inputs.push_back(c.input(i));
    auto outputs = c.infer_subgraph(0, inputs);
    if (!outputs) return outputs.error();
    for (std::size_t i = 0; i < outputs->size(); ++i)
      if ((*outputs)[i]) c.set_output(i, *(*outputs)[i]);
    return status_code::ok;
  }
};
using operators = op_list<Plus, Negate, Scale, Late, Join, Hold, Copy, Once>;

/// Returns a table that contains only the operators of the test domain.
inline op_table table() { return {operators::rows, {}}; }

inline value_id input(graph& g, std::string_view name, dtype type = dtype::f32) {
  const value_id v = g.add_value(name, g.owner().keep(value_type::tensor(type, {dim::fixed(2), dim::fixed(3)})));
  g.add_input(v);
  return v;
}

/// Adds a node that is named like its output. Values are given by name: outputs are made, inputs resolved. "" is
/// absent.
inline node_id add(graph& g, std::string_view op, std::initializer_list<std::string_view> in,
                   std::initializer_list<std::string_view> out, std::vector<attribute> attributes = {},
                   std::vector<graph*> subgraphs = {}, std::string_view domain = "test", std::int64_t opset = 1) {
  std::vector<value_id> inputs, outputs;
  for (std::string_view n : in) inputs.push_back(n.empty() ? value_id::none : g.resolve(n));
  for (std::string_view n : out) {
    value_id v = n.empty() ? value_id::none : g.find(n);
    if (!n.empty() && v == value_id::none) v = g.add_value(n);
    outputs.push_back(v);
  }
  return g.add_node(
      {out.size() ? *out.begin() : op, domain, op, {}, {}, opset, inputs, outputs, attributes, subgraphs, {}});
}

inline attribute number(std::string_view name, float f) { return {name, attribute_kind::f, f}; }
inline attribute number(std::string_view name, std::int64_t i) { return {name, attribute_kind::i, 0, i}; }
inline attribute body_attribute() { return {"body", attribute_kind::g, 0, 0}; }
inline attribute reference(std::string_view name, attribute_kind kind, std::string_view to) {
  attribute a{name, kind};
  a.ref_attr_name = to;
  return a;
}

/// Adds a local function with an empty body.
inline function& add_function(model& m, std::string_view name) {
  function f{};
  f.domain = "fun";
  f.name = *m.memory.copy(name);
  f.body = std::make_unique<graph>(m, nullptr);
  m.functions.push_back(std::move(f));
  return m.functions.back();
}

}  // namespace cameo::test
