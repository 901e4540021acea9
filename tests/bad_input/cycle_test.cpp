#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("a node that reads its own output is INVALID_GRAPH") {
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_node(0)->set_input(1, "y");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'sum'", "cycle");
}

TEST_CASE("a cycle of two nodes, and of 20,000, is INVALID_GRAPH") {
  for (const int length : {2, 20000}) {
    onnx::ModelProto m = new_model();
    auto& g = *m.mutable_graph();
    for (int i = 0; i < length; ++i)
      add_node(g, "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string((i + 1) % length)}, "n" + std::to_string(i));
    add_untyped_output(g, "v0");
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "cycle", "Relu");
  }
}

TEST_CASE("a cycle through captured values, inside a subgraph and inside a function is INVALID_GRAPH") {
  onnx::ModelProto capture = rich_model();
  capture.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "z");
  CHECK_REFUSED(load_error(capture), status_code::invalid_graph, bad_name, "'choose'", "cycle");
  onnx::ModelProto inner = rich_model();
  inner.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "inner");
  CHECK_REFUSED(load_error(inner), status_code::invalid_graph, bad_name, "'choose'", "then_branch", "cycle");
  onnx::ModelProto body = rich_model();
  body.mutable_functions(0)->mutable_node(0)->set_input(0, "b");
  CHECK_REFUSED(load_error(body), status_code::invalid_graph, bad_name, "Own", "cycle");
}

TEST_CASE("20,000 nodes in the wrong order are accepted, and sorted without deep recursion") {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "v0", {4});
  for (int i = 20000; i-- > 0;) add_node(g, "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  add_untyped_output(g, "v20000");
  CHECK_REFUSED(run_error(m, {floats("v0", {4})}), status_code::ok);
}
