#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

onnx::ModelProto calling(const std::string& domain, const std::string& op, bool imported) {
  onnx::ModelProto m = add_model();
  auto& n = *m.mutable_graph()->mutable_node(0);
  n.set_op_type(op);
  n.set_domain(domain);
  if (imported && !domain.empty()) {
    auto& import = *m.add_opset_import();
    import.set_domain(domain);
    import.set_version(1);
  }
  return m;
}

}  // namespace

TEST_CASE("an operator that its domain does not have is INVALID_GRAPH with node, operator, domain and opset") {
  CHECK_REFUSED(load_error(calling("", "Frobnicate", true)), status_code::invalid_graph, bad_name, "'sum'",
                "Frobnicate", "ai.onnx", "20");
  CHECK_REFUSED(load_error(calling("ai.onnx.ml", "Frobnicate", true)), status_code::invalid_graph, bad_name, "'sum'",
                "Frobnicate", "ai.onnx.ml");
  CHECK_REFUSED(load_error(calling("com.microsoft", "Frobnicate", true)), status_code::invalid_graph, bad_name, "'sum'",
                "Frobnicate", "com.microsoft");
  CHECK_REFUSED(load_error(calling("", "add", true)), status_code::invalid_graph, bad_name, "'sum'");  // case matters
  CHECK_REFUSED(load_error(calling("", "", true)), status_code::invalid_graph, bad_name, "'sum'");
}

TEST_CASE("a domain that no provider declares is FAIL with node, operator and domain") {
  CHECK_REFUSED(load_error(calling("org.nobody", "Own", true)), status_code::fail, bad_name, "'sum'", "Own",
                "org.nobody");
}

TEST_CASE("a domain without an opset import is INVALID_GRAPH") {
  CHECK_REFUSED(load_error(calling("org.nobody", "Own", false)), status_code::invalid_graph, bad_name, "'sum'", "Own",
                "org.nobody");
}

TEST_CASE("an operator newer than the model's opset, or deprecated in it, is INVALID_GRAPH with both opsets") {
  onnx::ModelProto newer = calling("", "Mish", true);
  newer.mutable_opset_import(0)->set_version(10);
  CHECK_REFUSED(load_error(newer), status_code::invalid_graph, bad_name, "'sum'", "Mish", "10", "18");
  onnx::ModelProto older = calling("", "Upsample", true);
  CHECK_REFUSED(load_error(older), status_code::invalid_graph, bad_name, "'sum'", "Upsample", "20", "10");
}

TEST_CASE("an unknown operator inside a subgraph or a function is refused with its location") {
  onnx::ModelProto inner = rich_model();
  inner.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type("Frobnicate");
  CHECK_REFUSED(load_error(inner), status_code::invalid_graph, bad_name, "'choose' (If", "then_branch", "Frobnicate");
  onnx::ModelProto body = rich_model();
  body.mutable_functions(0)->mutable_node(0)->set_op_type("Frobnicate");
  CHECK_REFUSED(load_error(body), status_code::invalid_graph, bad_name, "org.own.Own", "Frobnicate");
}
