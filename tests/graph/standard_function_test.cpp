#include "graph/standard_function.hpp"

#include <cameo/op/onnx.hpp>

#include <doctest/doctest.h>

using namespace cameo;

namespace {

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names(text.empty() ? 0 : 1);
  for (const char c : text) c == ',' ? names.emplace_back().clear() : names.back().push_back(c);
  return names;
}

}  // namespace

TEST_CASE("every standard function body becomes a function whose values are all defined, by nodes in order") {
  model net;
  for (const function_body_row& row : standard_function_bodies()) {
    CAPTURE(row.graph.name);
    const function made = make_function(net, row);
    graph& body = *made.body;
    CHECK(made.name == row.graph.name);
    CHECK(made.imports[0].version == row.needs_opset);
    CHECK(body.inputs().size() == row.graph.inputs.size());
    CHECK(body.outputs().size() == names_in(row.graph.outputs).size());
    CHECK(body.node_capacity() == row.graph.nodes.size());
    CHECK(body.sort());
    for (const value_id v : body.outputs()) {
      REQUIRE(v != value_id::none);
      CHECK(body[v].producer != node_id::none);
    }
    for (std::size_t n = 0; n < body.node_capacity(); ++n) {
      CHECK(body[node_id(n)].opset == row.needs_opset);
      const std::vector<std::string> names = names_in(row.graph.nodes[n].inputs);
      REQUIRE(body.input_count(node_id(n)) == names.size());
      for (std::size_t i = 0; i < names.size(); ++i) {
        const value_id v = body.input(node_id(n), i);
        CHECK((v == value_id::none ? "" : body[v].name) == names[i]);
      }
    }
  }
}

TEST_CASE("a standard body has the attributes, constants and graphs of ONNX's own") {
  model net;
  const function range = make_function(net, *find_function_body(detail::op_id_of<op::Range>, 11, 20));
  const graph& body = *range.body;
  const detail::graph_node& loop =
      body[body[body.outputs()[0]].producer == node_id::none ? node_id{0} : body[body.outputs()[0]].producer];
  CHECK(loop.op_type == "Loop");
  REQUIRE(loop.subgraphs.size() == 1);
  CHECK(loop.attributes[0].kind == attribute_kind::g);
  const graph& inner = *loop.subgraphs[0];
  REQUIRE(inner.inputs().size() == 3);
  REQUIRE(inner[inner.inputs()[1]].type);
  CHECK(inner[inner.inputs()[1]].type->type == dtype::boolean);
  CHECK(!inner[inner.inputs()[2]].type);
  CHECK(loop.capture_count == 1);  // delta

  const function relu = make_function(net, *find_function_body(detail::op_id_of<op::Relu>, 14, 20));
  const detail::graph_node& zero = (*relu.body)[node_id{0}];
  CHECK(zero.op_type == "Constant");
  REQUIRE(zero.attributes[0].tensors.size() == 1);
  CHECK(zero.attributes[0].tensors[0].as_unchecked<float>()[0] == 0);
  const function elu = make_function(net, *find_function_body(detail::op_id_of<op::Elu>, 6, 20));
  REQUIRE(elu.attribute_names.size() == 1);
  CHECK(elu.attribute_names[0] == "alpha");
  CHECK((*elu.body)[node_id{0}].attributes[0].ref_attr_name == "alpha");
}
