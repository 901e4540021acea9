#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("an element type that the operator does not allow is INVALID_GRAPH with the allowed types") {
  onnx::ModelProto m = one_node("Add", {texts("a", {"x"}), texts("b", {"y"})}, given::at_run_time);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Add", "'A'", "tensor(string)",
                "tensor(float)");
  onnx::ModelProto relu = one_node("Softmax", {ints("a", {1})}, given::as_constants);
  CHECK_REFUSED(load_error(relu), status_code::invalid_graph, bad_name, "'n'", "Softmax", "tensor(int64)",
                "tensor(float)");
}

TEST_CASE("inputs whose types must be equal and are not, are INVALID_GRAPH with both") {
  onnx::ModelProto m = one_node("Add", {floats("a", {1}), ints("b", {1})}, given::at_run_time);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Add", "'B'", "tensor(int64)",
                "tensor(float)", "'A'");
}

TEST_CASE("a declared type or rank that differs from the node's output is INVALID_GRAPH") {
  onnx::ModelProto type = add_model();
  type.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(7);
  CHECK_REFUSED(load_error(type), status_code::invalid_graph, bad_name, "'sum'", "tensor(int64)", "tensor(float)");
  onnx::ModelProto kind = add_model();
  kind.mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_tensor_type()
      ->set_elem_type(1);
  CHECK_REFUSED(load_error(kind), status_code::invalid_graph, bad_name, "'sum'", "seq(tensor(float))", "tensor(float)");
  onnx::ModelProto given_type = add_model();  // an initializer that is declared as an input of another type
  add_value(*given_type.mutable_graph()->mutable_input(), "w", {32})
      .mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(7);
  CHECK_REFUSED(load_error(given_type), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE(
    "an input of the model without a type is INVALID_GRAPH: a run could pass anything to the kernels that read it") {
  for (const bool has_kind : {false, true}) {
    onnx::ModelProto m = add_model();
    if (has_kind) m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(0);
    else m.mutable_graph()->mutable_input(0)->clear_type();
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'x'");
  }
}

TEST_CASE("element types that ONNX does not have are INVALID_GRAPH in all places") {
  for (const int type : {-1, 27 + 2, 99, 0x7FFFFFFF}) {
    onnx::ModelProto input = add_model();
    input.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    CHECK_REFUSED(load_error(input), status_code::invalid_graph, bad_name, "'x'");
    onnx::ModelProto weights = add_model();
    weights.mutable_graph()->mutable_initializer(0)->set_data_type(type);
    CHECK_REFUSED(load_error(weights), status_code::invalid_graph, bad_name, "'w'");
  }
  onnx::ModelProto none = add_model();
  none.mutable_graph()->mutable_initializer(0)->set_data_type(0);
  CHECK_REFUSED(load_error(none), status_code::invalid_graph, bad_name, "'w'");
}
