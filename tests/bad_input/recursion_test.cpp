#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

onnx::FunctionProto& add_function(onnx::ModelProto& m, const std::string& name, std::vector<std::string> calls) {
  auto& f = *m.add_functions();
  f.set_name(name);
  f.set_domain("org.own");
  f.add_input("a");
  f.add_output("b");
  for (const auto& [domain, version] : {std::pair{"", 20}, std::pair{"org.own", 1}}) {
    auto& import = *f.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  std::string last = "a";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto& n = *f.add_node();
    n.set_op_type(calls[i]);
    if (calls[i] != "Relu") n.set_domain("org.own");
    n.add_input(last);
    last = i + 1 == calls.size() ? "b" : "v" + std::to_string(i);
    n.add_output(last);
  }
  return f;
}

onnx::ModelProto calling_own(const std::string& name) {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  auto& own = *m.add_opset_import();
  own.set_domain("org.own");
  own.set_version(1);
  add_value(*g.mutable_input(), "x", {4});
  add_node(g, name, {"x"}, {"y"}, "call").set_domain("org.own");
  add_untyped_output(g, "y");
  return m;
}

}  // namespace

TEST_CASE("a function that calls itself is INVALID_GRAPH with its name, whether it is called or not") {
  for (const char* called : {"self", "other"}) {
    onnx::ModelProto m = calling_own(called);
    add_function(m, "self", {"Relu", "self"});
    add_function(m, "other", {"Relu"});
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "org.own.self -> org.own.self");
  }
}

TEST_CASE("functions that call each other in a cycle of 2, 3 and 5,000 are INVALID_GRAPH with the cycle") {
  for (const int length : {2, 3, 5000}) {
    onnx::ModelProto m = calling_own("f0");
    for (int i = 0; i < length; ++i)
      add_function(m, "f" + std::to_string(i), {"Relu", "f" + std::to_string((i + 1) % length)});
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "org.own.f0", "org.own.f1", "->");
  }
}

TEST_CASE("a function that calls itself in a subgraph is INVALID_GRAPH") {
  onnx::ModelProto m = calling_own("f");
  auto& f = add_function(m, "f", {"Relu"});
  auto& n = *f.add_node();
  n.set_op_type("If");
  n.add_input("c");
  n.add_output("unused");
  auto& c = *f.add_node();
  c.set_op_type("Constant");
  c.add_output("c");
  set(c, "value", truth("", true));
  onnx::GraphProto body;
  body.set_name("body");
  add_node(body, "f", {"a"}, {"z"}).set_domain("org.own");
  add_untyped_output(body, "z");
  set(n, "then_branch", body);
  set(n, "else_branch", body);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "org.own.f -> org.own.f");
}

TEST_CASE("a function named like an operator that its own body uses calls itself") {
  onnx::ModelProto m = calling_own("Relu");
  add_function(m, "Relu", {"Relu"}).mutable_node(0)->set_domain("org.own");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "org.own.Relu");
}

TEST_CASE("60 levels of functions with two calls each are INVALID_GRAPH at once, not after 2^60 nodes") {
  onnx::ModelProto m = calling_own("f0");
  for (int i = 0; i < 60; ++i) {
    const std::string next = i == 59 ? "Relu" : "f" + std::to_string(i + 1);
    add_function(m, "f" + std::to_string(i), {next, next});
  }
  const memory_peak peak;
  CHECK(ends_within(5, [&] { CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "inlined"); }));
  CHECK(peak.grown_kb() < allowed_kb);
}

TEST_CASE("a chain of 5,000 functions is loaded or refused, and does not crash") {
  onnx::ModelProto m = calling_own("f0");
  for (int i = 0; i < 5000; ++i)
    add_function(m, "f" + std::to_string(i), {i == 4999 ? "Relu" : "f" + std::to_string(i + 1)});
  const status s = load_error(m);
  INFO(shown(s));
  const bool known = s.code() == status_code::ok || s.code() == status_code::invalid_graph;
  CHECK(known);
}
