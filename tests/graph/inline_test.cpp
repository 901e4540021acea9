#include <cameo/graph/check.hpp>

#include <doctest/doctest.h>

#include "graph_maker.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

value_id body_input(graph& g, std::string_view name) {
  const value_id v = g.add_value(name);
  g.add_input(v);
  return v;
}

node_id call(graph& g, std::string_view f, std::initializer_list<std::string_view> in,
             std::initializer_list<std::string_view> out, std::vector<attribute> attributes = {},
             std::vector<graph*> subgraphs = {}) {
  return add(g, f, in, out, attributes, subgraphs, "fun");
}

/// Inlines every call and infers types again.
status inline_all(graph& g) {
  for (bool again = true; std::exchange(again, false);)
    for (std::size_t i = 0; i < g.node_capacity(); ++i) {
      const node_id n{std::uint32_t(i)};
      if (g[n].removed || !g[n].callee) continue;
      again = true;
      auto added = inline_call(g, n, *g[n].callee, table());
      if (!added) return added.error();
    }
  if (status sorted = g.sort(); !sorted) return sorted;
  return infer_types(g);
}

const detail::graph_node& only(const graph& g, std::string_view op) {
  const detail::graph_node* found = nullptr;
  for (node_id n : g.order())
    if (g[n].op_type == op) {
      CHECK(!found);
      found = &g[n];
    }
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("a call becomes its body: unique names, attributes from the call, the default or none") {
  model m;
  function& f = add_function(m, "twice");
  const attribute defaults[] = {number("factor", 3.0f)};
  f.attribute_defaults = defaults;
  body_input(*f.body, "p");
  add(*f.body, "Scale", {"p"}, {"t"},
      {reference("by", attribute_kind::f, "factor"), reference("times", attribute_kind::i, "nobody")});
  add(*f.body, "Plus", {"t", "p"}, {"q"});
  f.body->add_output(f.body->find("q"));

  graph& g = m.main();
  input(g, "a");
  call(g, "twice", {"a"}, {"t"});
  call(g, "twice", {"t"}, {"y"}, {number("factor", 7.0f)});
  g.add_output(g.find("y"));
  REQUIRE(check_model(m, table()));
  REQUIRE(g[g.find("y")].type->shape);  // inferred before it is inlined
  CHECK(g[g.find("y")].type->shape->size() == 2);
  REQUIRE(inline_all(g));

  REQUIRE(g.order().size() == 4);
  CHECK(g.find("t/t") != value_id::none);
  CHECK(g.find("y/t") != value_id::none);
  const detail::graph_node& first = g[g[g.find("t/t")].producer];
  const detail::graph_node& second = g[g[g.find("y/t")].producer];
  CHECK(first.name == "t/t");
  CHECK(first.version->since == 1);
  REQUIRE(first.attributes.size() == 1);
  CHECK(first.attributes[0].name == "by");
  CHECK(first.attributes[0].f == 3.0f);
  CHECK(second.attributes[0].f == 7.0f);
  CHECK(g[g.find("t/t")].type->type == dtype::f32);
  CHECK(g.outputs()[0] == g.find("y"));
  for (node_id n : g.order()) CHECK(g[n].callee == nullptr);
}

TEST_CASE("calls within calls, and inputs that the call leaves out") {
  model m;
  function& inner = add_function(m, "inner");
  body_input(*inner.body, "p");
  body_input(*inner.body, "bias");
  add(*inner.body, "Scale", {"p", "bias"}, {"q"}, {reference("by", attribute_kind::f, "by")});
  inner.body->add_output(inner.body->find("q"));
  function& outer = add_function(m, "outer");
  body_input(*outer.body, "p");
  body_input(*outer.body, "bias");
  call(*outer.body, "inner", {"p", "bias"}, {"q"}, {reference("by", attribute_kind::f, "alpha")});
  outer.body->add_output(outer.body->find("q"));

  graph& g = m.main();
  input(g, "a");
  call(g, "outer", {"a"}, {"y"}, {number("alpha", 5.0f)});
  g.add_output(g.find("y"));
  REQUIRE(check_model(m, table()));
  REQUIRE(inline_all(g));
  const detail::graph_node& scale = only(g, "Scale");
  CHECK(scale.attributes[0].f == 5.0f);
  CHECK(scale.name == "y/q/q");
  const node_id n = g.order()[0];
  CHECK(g.input(n, 0) == g.find("a"));
  CHECK(g.input(n, 1) == value_id::none);
}

TEST_CASE("an input that a function passes through") {
  model m;
  function& f = add_function(m, "swap");
  body_input(*f.body, "p");
  body_input(*f.body, "q");
  f.body->add_output(f.body->find("q"));
  f.body->add_output(f.body->find("p"));
  graph& g = m.main();
  const value_id a = input(g, "a"), b = input(g, "b");
  call(g, "swap", {"a", "b"}, {"c", "d"});
  add(g, "Negate", {"c"}, {"y"});
  g.add_output(g.find("y"));
  g.add_output(g.find("d"));
  REQUIRE(check_model(m, table()));
  REQUIRE(inline_all(g));
  CHECK(g.input(g[g.find("y")].producer, 0) == b);
  CHECK(g.outputs()[1] == g.find("d"));  // keeps its name through a copy
  const node_id copy = g[g.find("d")].producer;
  REQUIRE(copy != node_id::none);
  CHECK(g[copy].op_type == "Copy");
  CHECK(g.input(copy, 0) == a);
}

TEST_CASE("bodies in a function's body are copied, with attributes and captures") {
  model m;
  function& f = add_function(m, "f");
  body_input(*f.body, "p");
  graph& body = m.add_graph(f.body.get());
  body.name = "inside";
  body_input(body, "x");
  add(body, "Scale", {"x", "p"}, {"z"}, {reference("by", attribute_kind::f, "by")});
  body.add_output(body.find("z"));
  add(*f.body, "Once", {"p"}, {"q"}, {body_attribute()}, {&body});
  f.body->add_output(f.body->find("q"));

  graph& g = m.main();
  const value_id a = input(g, "a");
  call(g, "f", {"a"}, {"y"}, {number("by", 2.0f)});
  call(g, "f", {"y"}, {"z"}, {number("by", 4.0f)});
  g.add_output(g.find("z"));
  REQUIRE(check_model(m, table()));
  REQUIRE(inline_all(g));
  REQUIRE(g.order().size() == 2);
  const node_id first = g.order()[0], second = g.order()[1];
  REQUIRE(g[first].subgraphs.size() == 1);
  graph &one = *g[first].subgraphs[0], &two = *g[second].subgraphs[0];
  CHECK(&one != &body);
  CHECK(&one != &two);
  CHECK(one.outer() == &g);
  CHECK(one.holder() == first);
  CHECK(g[first].capture_count == 1);
  CHECK(g.capture(first, 0) == a);
  CHECK(g.capture(second, 0) == g.find("y"));
  CHECK(one[one.order()[0]].attributes[0].f == 2.0f);
  CHECK(two[two.order()[0]].attributes[0].f == 4.0f);
  CHECK(one[one.outputs()[0]].type->type == dtype::f32);
  REQUIRE(g[g.find("z")].type->shape);
  CHECK(g[g.find("z")].type->shape->size() == 2);
}

TEST_CASE("a graph that the call passes is copied to the node that uses it") {
  model m;
  function& f = add_function(m, "f");
  body_input(*f.body, "p");
  add(*f.body, "Once", {"p"}, {"q"}, {reference("body", attribute_kind::g, "what")});
  f.body->add_output(f.body->find("q"));
  graph& g = m.main();
  input(g, "a");
  const value_id b = input(g, "b");
  graph& what = m.add_graph(&g);
  body_input(what, "x");
  add(what, "Plus", {"x", "b"}, {"z"});
  what.add_output(what.find("z"));
  attribute pass = body_attribute();
  pass.name = "what";
  call(g, "f", {"a"}, {"y"}, {pass}, {&what});
  g.add_output(g.find("y"));
  REQUIRE(check_model(m, table()));
  REQUIRE(inline_all(g));
  const detail::graph_node& once = only(g, "Once");
  REQUIRE(once.subgraphs.size() == 1);
  CHECK(once.subgraphs[0] != &what);
  CHECK(g.capture(g.order()[0], 0) == b);
  CHECK(once.attributes[0].name == "body");
}

TEST_CASE("missing arguments of a call are an error with their names") {
  model m;
  function& f = add_function(m, "f");
  body_input(*f.body, "p");
  add(*f.body, "Scale", {"p"}, {"q"}, {reference("by", attribute_kind::f, "by")});
  f.body->add_output(f.body->find("q"));
  graph& g = m.main();
  input(g, "a");
  const node_id n = call(g, "f", {"a"}, {"y"});
  const node_id wrong = call(g, "f", {"a"}, {"z"}, {number("by", std::int64_t{1})});
  g[n].callee = g[wrong].callee = &f;
  auto made = inline_call(g, n, f, table());
  REQUIRE(!made);
  CHECK(made.error().code() == status_code::invalid_graph);
  CHECK(says(made.error(), "attribute by (float) is missing"));
  CHECK(says(made.error(), "function 'fun.f'"));
  made = inline_call(g, wrong, f, table());
  REQUIRE(!made);
  CHECK(says(made.error(), "attribute by is of type int, must be float"));
}
