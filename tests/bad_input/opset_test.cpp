#include "bad_model.hpp"

#include <limits>

using namespace cameo;
using namespace cameo::test;

TEST_CASE("an opset below 1 of a node's domain is INVALID_GRAPH with domain and version") {
  for (const std::int64_t version : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    onnx::ModelProto m = add_model();
    m.mutable_opset_import(0)->set_version(version);
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "ai.onnx", std::to_string(version).c_str());
  }
  onnx::ModelProto function = rich_model();
  function.mutable_functions(0)->mutable_opset_import(0)->set_version(0);
  CHECK_REFUSED(load_error(function), status_code::invalid_graph, bad_name, "Own");
}

TEST_CASE("a model without opset imports is INVALID_GRAPH, and so is one without an import for an unknown domain") {
  onnx::ModelProto none = add_model();
  none.clear_opset_import();
  CHECK_REFUSED(load_error(none), status_code::invalid_graph, bad_name, "'sum'", "ai.onnx");
  onnx::ModelProto own = add_model();
  own.mutable_graph()->mutable_node(0)->set_domain("org.own");
  CHECK_REFUSED(load_error(own), status_code::invalid_graph, bad_name, "'sum'", "org.own");
}

TEST_CASE("newer opsets, newer IR versions and unused domains are accepted") {
  for (const std::int64_t version : {std::int64_t{29}, std::int64_t{99}, std::numeric_limits<std::int64_t>::max()}) {
    onnx::ModelProto m = add_model();
    m.set_ir_version(99);
    m.mutable_opset_import(0)->set_version(version);
    m.add_opset_import()->set_domain("org.unused");
    m.mutable_opset_import(1)->set_version(7);
    CHECK_REFUSED(run_error(m, {floats("x", {32})}), status_code::ok);
  }
}
