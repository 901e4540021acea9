#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("too few and too many inputs are INVALID_GRAPH with node, operator, the number and the allowed numbers") {
  onnx::ModelProto few = add_model();
  few.mutable_graph()->mutable_node(0)->mutable_input()->RemoveLast();
  CHECK_REFUSED(load_error(few), status_code::invalid_graph, bad_name, "'sum'", "Add", "'B'", "1 input", "takes 2");
  onnx::ModelProto many = add_model();
  many.mutable_graph()->mutable_node(0)->add_input("x");
  CHECK_REFUSED(load_error(many), status_code::invalid_graph, bad_name, "'sum'", "Add", "3 input", "takes 2");
  onnx::ModelProto none = add_model();
  none.mutable_graph()->mutable_node(0)->clear_input();
  CHECK_REFUSED(load_error(none), status_code::invalid_graph, bad_name, "'sum'", "Add", "takes 2");
}

TEST_CASE("a required input that an empty name omits is INVALID_GRAPH; an optional one may be omitted") {
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_node(0)->set_input(0, "");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'sum'", "Add", "'A'");
  onnx::ModelProto clip = add_model();
  auto& n = *clip.mutable_graph()->mutable_node(0);
  n.set_op_type("Clip");
  n.clear_input();
  for (const char* name : {"x", "", ""}) n.add_input(name);
  CHECK_REFUSED(load_error(clip), status_code::ok);
}

TEST_CASE("variadic inputs must not be omitted, not even the last one") {
  for (const char* op : {"Max", "Min", "Sum", "Mean", "Concat", "Einsum", "SequenceConstruct"})
    for (const std::vector<const char*>& names :
         std::vector<std::vector<const char*>>{{"x", ""}, {"x", "", "x"}, {"", "x"}, {"x", "x", ""}, {""}}) {
      onnx::ModelProto m = add_model();
      auto& n = *m.mutable_graph()->mutable_node(0);
      n.set_op_type(op);
      n.clear_input();
      for (const char* name : names) n.add_input(name);
      CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'sum'", op, "left out");
    }
  onnx::ModelProto loop = one_node("Loop", {int_scalar("m", 3), truth("c", true)}, given::as_constants);
  loop.mutable_graph()->mutable_node(0)->add_input("");  // a loop-carried value; M and cond are optional
  CHECK_REFUSED(load_error(loop), status_code::invalid_graph, bad_name, "'n'", "Loop", "left out");
}

TEST_CASE("too many and too few outputs are INVALID_GRAPH") {
  onnx::ModelProto many = add_model();
  many.mutable_graph()->mutable_node(0)->add_output("more");
  CHECK_REFUSED(load_error(many), status_code::invalid_graph, bad_name, "'sum'", "Add", "2 output", "takes 1");
  onnx::ModelProto none = add_model();
  auto& n = *none.mutable_graph()->mutable_node(0);
  n.clear_output();
  add_node(*none.mutable_graph(), "Relu", {"x"}, {"y"});
  CHECK_REFUSED(load_error(none), status_code::invalid_graph, bad_name, "'sum'", "Add");
}

TEST_CASE("variadic inputs have a minimum number") {
  onnx::ModelProto m = one_node("Concat", {}, given::as_constants);
  set(*m.mutable_graph()->mutable_node(0), "axis", 0);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Concat", "at least 1");
}

TEST_CASE("a function that is called with too many inputs or outputs is INVALID_GRAPH") {
  onnx::ModelProto m = rich_model();
  auto& call = *m.mutable_graph()->mutable_node(m.graph().node_size() - 1);
  call.add_input("c");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'call'", "Own", "2 inputs", "takes 1");
  call.mutable_input()->RemoveLast();
  call.add_output("more");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'call'", "Own", "2 outputs", "makes 1");
}

TEST_CASE("subgraphs with another number of inputs or outputs than their operator needs are INVALID_GRAPH") {
  onnx::ModelProto branch = one_node("If", {truth("c", true)}, given::as_constants);
  auto& n = *branch.mutable_graph()->mutable_node(0);
  onnx::GraphProto body;
  body.set_name("body");
  add_node(body, "Identity", {"c"}, {"z"});
  add_untyped_output(body, "z");
  set(n, "then_branch", body);
  add_untyped_output(body, "z");  // two outputs
  set(n, "else_branch", body);
  CHECK_REFUSED(run_error(branch), status_code::invalid_graph, bad_name, "'n'", "If");

  onnx::ModelProto loop = one_node("Loop", {int_scalar("m", 3), truth("c", true)}, given::as_constants, 1);
  onnx::GraphProto step;
  step.set_name("step");
  add_typed(*step.mutable_input(), "i", onnx::TensorProto::INT64);  // the condition is missing
  add_node(step, "Identity", {"i"}, {"o"});
  add_untyped_output(step, "o");
  set(*loop.mutable_graph()->mutable_node(0), "body", step);
  CHECK_REFUSED(run_error(loop), status_code::invalid_graph, bad_name, "'n'", "Loop");
}
