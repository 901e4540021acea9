#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("a value made by two nodes, or twice by one, is INVALID_GRAPH with both nodes") {
  onnx::ModelProto two = add_model();
  add_node(*two.mutable_graph(), "Mul", {"x", "w"}, {"y"}, "product");
  CHECK_REFUSED(load_error(two), status_code::invalid_graph, bad_name, "'y'", "'sum' (Add)", "'product' (Mul)");
  onnx::ModelProto one = one_node("Dropout", {floats("a", {2})}, given::at_run_time);
  one.mutable_graph()->mutable_node(0)->add_output("y");
  CHECK_REFUSED(load_error(one), status_code::invalid_graph, bad_name, "'y'", "'n' (Dropout)");
}

TEST_CASE("a node that makes a graph input or an initializer is INVALID_GRAPH") {
  for (const char* name : {"x", "w"}) {
    onnx::ModelProto m = add_model();
    add_node(*m.mutable_graph(), "Mul", {"x", "w"}, {name}, "product");
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'product' (Mul)",
                  ("'" + std::string{name} + "'").c_str());
  }
}

TEST_CASE("inputs of one name are INVALID_GRAPH, and so are initializers that differ in type or shape") {
  onnx::ModelProto inputs = add_model();
  add_value(*inputs.mutable_graph()->mutable_input(), "x", {32});
  CHECK_REFUSED(load_error(inputs), status_code::invalid_graph, bad_name, "'x'");
  onnx::ModelProto initializers = add_model();
  onnx::TensorProto& other = *initializers.mutable_graph()->add_initializer();
  other = initializers.graph().initializer(0);
  other.add_dims(1);
  CHECK_REFUSED(load_error(initializers), status_code::invalid_graph, bad_name, "'w'");
  onnx::ModelProto sparse = rich_model();
  sparse.mutable_graph()->mutable_sparse_initializer(0)->mutable_values()->set_name("w");
  CHECK_REFUSED(load_error(sparse), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE("two functions of one name are INVALID_GRAPH") {
  onnx::ModelProto m = rich_model();
  *m.add_functions() = m.functions(0);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "Own");
}

TEST_CASE("nodes of one name are accepted: ONNX requires only names of values to differ") {
  onnx::ModelProto m = add_model();
  add_node(*m.mutable_graph(), "Relu", {"y"}, {"z"}, "sum");
  CHECK_REFUSED(load_error(m), status_code::ok);
}
