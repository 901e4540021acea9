#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("an element type that the operator does not allow is INVALID_GRAPH with what it allows") {
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

TEST_CASE("a declared type or rank that is not what the node makes is INVALID_GRAPH") {
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

TEST_CASE("element types that ONNX does not have are INVALID_GRAPH, wherever they stand") {
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

TEST_CASE("a node that no provider has a kernel for is NOT_IMPLEMENTED with each provider's reason") {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_typed(*g.mutable_input(), "a", onnx::TensorProto::FLOAT);
  auto& import = *m.add_opset_import();
  import.set_domain("ai.onnx.preview.training");
  import.set_version(1);
  auto& n = add_node(g, "Adagrad", {"a", "i", "a", "a", "a"}, {"y", "z"}, "n");
  add_typed(*g.mutable_input(), "i", onnx::TensorProto::INT64);
  n.set_domain("ai.onnx.preview.training");
  add_untyped_output(g, "y");
  CHECK_REFUSED(load_error(m), status_code::not_implemented, bad_name, "'n'", "Adagrad", "cpu");
}

TEST_CASE("a type that the operator allows and no kernel takes is NOT_IMPLEMENTED with type, operator and provider") {
  // Equal of strings came with opset 19; complex numbers have no arithmetic kernel anywhere.
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_typed(*g.mutable_input(), "a", onnx::TensorProto::BFLOAT16);
  add_typed(*g.mutable_input(), "s", onnx::TensorProto::INT64);
  add_node(g, "Det", {"a"}, {"y"}, "n");
  g.mutable_node(0)->set_op_type("TfIdfVectorizer");
  g.mutable_node(0)->set_input(0, "s");
  for (const char* each : {"ngram_counts", "ngram_indexes"})
    set(*g.mutable_node(0), each, std::vector<std::int64_t>{0});
  for (const char* each : {"max_gram_length", "max_skip_count", "min_gram_length"}) set(*g.mutable_node(0), each, 1);
  set(*g.mutable_node(0), "mode", "TF");
  add_untyped_output(g, "y");
  CHECK_REFUSED(load_error(m), status_code::not_implemented, bad_name, "'n'", "TfIdfVectorizer", "cpu", "no kernel");
}
