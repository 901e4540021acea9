#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("an input that is not defined is INVALID_ARGUMENT with node, operator and name") {
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_node(0)->set_input(1, "nobody");
  CHECK_REFUSED(load_error(m), status_code::invalid_argument, bad_name, "'sum'", "Add", "'nobody'");
}

TEST_CASE("a graph output that no node makes is INVALID_ARGUMENT") {
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_output(0)->set_name("nobody");
  CHECK_REFUSED(load_error(m), status_code::invalid_argument, bad_name, "'nobody'");
  m.mutable_graph()->mutable_output(0)->set_name("");
  CHECK_REFUSED(load_error(m), status_code::invalid_argument, bad_name);
}

TEST_CASE("names of subgraphs are not visible outside, and those of the graph not in functions") {
  onnx::ModelProto out = rich_model();
  add_node(*out.mutable_graph(), "Relu", {"inner"}, {"leaked"}, "reader");
  CHECK_REFUSED(load_error(out), status_code::invalid_argument, bad_name, "'reader' (Relu)", "'inner'");
  onnx::ModelProto sibling = rich_model();
  auto& branches = *sibling.mutable_graph()->mutable_node(1);
  branches.mutable_attribute(0)->mutable_g()->mutable_node(0)->set_output(0, "only_here");
  branches.mutable_attribute(0)->mutable_g()->mutable_output(0)->set_name("only_here");
  branches.mutable_attribute(1)->mutable_g()->mutable_node(0)->set_input(0, "only_here");
  CHECK_REFUSED(load_error(sibling), status_code::invalid_argument, bad_name, "'choose'", "else_branch", "'only_here'");
  onnx::ModelProto into = rich_model();
  into.mutable_functions(0)->mutable_node(0)->set_input(0, "w");
  CHECK_REFUSED(load_error(into), status_code::invalid_argument, bad_name, "Own", "'w'");
  onnx::ModelProto made = rich_model();
  made.mutable_functions(0)->set_output(0, "nobody");
  CHECK_REFUSED(load_error(made), status_code::invalid_argument, bad_name, "Own", "'nobody'");
}
