#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

onnx::ModelProto with_node(const std::string& op) {
  onnx::ModelProto m = one_node(op, {floats("a", {2, 3})}, given::at_run_time);
  return m;
}
onnx::NodeProto& node_of(onnx::ModelProto& m) { return *m.mutable_graph()->mutable_node(0); }

}  // namespace

TEST_CASE("an attribute of another type is INVALID_GRAPH with node, operator, attribute and both types") {
  onnx::ModelProto m = with_node("Softmax");
  set(node_of(m), "axis", 1.0f);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Softmax", "attribute axis", "float",
                "int");
  onnx::ModelProto many = with_node("Transpose");
  set(node_of(many), "perm", 1);
  CHECK_REFUSED(load_error(many), status_code::invalid_graph, bad_name, "'n'", "Transpose", "attribute perm", "ints");
  onnx::ModelProto graph = one_node("If", {truth("c", true)}, given::as_constants);
  set(node_of(graph), "then_branch", "text");
  set(node_of(graph), "else_branch", "text");
  CHECK_REFUSED(load_error(graph), status_code::invalid_graph, bad_name, "'n'", "If", "_branch", "string", "graph");
}

TEST_CASE("a missing required attribute is INVALID_GRAPH with its name and type") {
  CHECK_REFUSED(load_error(with_node("Concat")), status_code::invalid_graph, bad_name, "'n'", "Concat",
                "attribute axis", "int");
  CHECK_REFUSED(load_error(with_node("Cast")), status_code::invalid_graph, bad_name, "'n'", "Cast", "attribute to",
                "int");
  onnx::ModelProto branch = one_node("If", {truth("c", true)}, given::as_constants);
  CHECK_REFUSED(load_error(branch), status_code::invalid_graph, bad_name, "'n'", "If", "_branch", "graph");
}

TEST_CASE("an attribute that the operator does not have, or has twice, is INVALID_GRAPH") {
  onnx::ModelProto m = with_node("Softmax");
  set(node_of(m), "axes", 1);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Softmax", "'axes'", "'axis'");
  onnx::ModelProto twice = with_node("Softmax");
  set(node_of(twice), "axis", 1);
  set(node_of(twice), "axis", 1);
  CHECK_REFUSED(load_error(twice), status_code::invalid_graph, bad_name, "'n'", "Softmax", "'axis'", "twice");
  onnx::ModelProto nameless = with_node("Softmax");
  set(node_of(nameless), "", 1);
  CHECK_REFUSED(load_error(nameless), status_code::invalid_graph, bad_name, "'n'", "Softmax");
}

TEST_CASE("an attribute that refers to a function's attribute, outside a function, is INVALID_GRAPH") {
  onnx::ModelProto m = with_node("Softmax");
  set(node_of(m), "axis", 1);
  auto& a = *node_of(m).mutable_attribute(0);
  a.clear_i();
  a.set_ref_attr_name("axis");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Softmax", "'axis'");
}

TEST_CASE("attributes with impossible values are a status, at load or in the run") {
  const std::vector<onnx::TensorProto> input{floats("a", {2, 3})};
  const auto refused = [&](const char* op, const char* attribute, auto value) {
    for (const given how : {given::as_constants, given::at_run_time}) {
      onnx::ModelProto m = one_node(op, input, how);
      set(node_of(m), attribute, value);
      const status s = run_error(m, how == given::at_run_time ? input : std::vector<onnx::TensorProto>{});
      INFO(std::string{op}, " ", std::string{attribute}, ": ", shown(s));
      const bool known = s.code() == status_code::invalid_graph || s.code() == status_code::invalid_argument ||
                         s.code() == status_code::not_implemented;
      CHECK(known);
      for (const std::string words : {bad_name, "'n'", op}) {
        INFO("must say: ", words);
        CHECK(says(s, words));
      }
    }
  };
  for (const std::int64_t axis : {least, std::int64_t{-3}, std::int64_t{2}, most}) {
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "Concat", "ArgMax", "LpNormalization"})
      refused(op, "axis", axis);
    refused("Transpose", "perm", std::vector<std::int64_t>{0, axis});
  }
  for (const std::int64_t to : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{99}, least, most})
    refused("Cast", "to", to);
  refused("Transpose", "perm", std::vector<std::int64_t>{0, 0});
  refused("Transpose", "perm", std::vector<std::int64_t>{0});
  refused("Transpose", "perm", std::vector<std::int64_t>{0, 1, 2});
  refused("Flatten", "axis", std::int64_t{3});
  refused("DepthToSpace", "blocksize", std::int64_t{0});
  refused("SpaceToDepth", "blocksize", std::int64_t{-2});
}
