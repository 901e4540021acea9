#include <cameo/graph/check.hpp>
#include <cameo/graph/symbol_names.hpp>

#include <doctest/doctest.h>

#include <set>

#include "graph_maker.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

status checked(model& m) { return check_model(m, table()); }

/// Builds a graph with `make`, which adds to one with the float input 'a' and the output 'y', and checks it.
template <class Make>
status checked_with(Make make) {
  model m;
  m.path = "model.onnx";
  input(m.main(), "a");
  m.main().add_output(m.main().add_value("y"));
  make(m.main());
  return checked(m);
}

void must_say(const status& bad, status_code code, std::initializer_list<std::string_view> words) {
  CHECK(bad.code() == code);
  for (std::string_view w : words) {
    INFO(std::string{bad.words()} << " -- should say: " << std::string{w});
    CHECK(says(bad, w));
  }
}

}  // namespace

TEST_CASE("a correct model gets operators, versions, an order and types") {
  model m;
  graph& g = m.main();
  input(g, "a");
  add(g, "Plus", {"a", "a"}, {"b"});
  add(g, "Scale", {"b", ""}, {"c"}, {number("by", 2.0f)}, {}, "test", 2);
  add(g, "Negate", {"c"}, {"y"});
  g.add_output(g.find("y"));
  REQUIRE(checked(m));
  CHECK(g[g.order()[0]].op->name == "Plus");
  CHECK(g[g.order()[1]].version->since == 1);
  REQUIRE(g[g.find("c")].type->shape);
  CHECK(g[g.find("c")].type->shape->size() == 2);
  CHECK(g[g.find("y")].type->type == dtype::f32);  // no shape function: the type follows from the type string
  CHECK(!g[g.find("y")].type->shape);
  CHECK(checked(m));  // a second time
}

TEST_CASE("a graph may have no nodes, but not be empty") {
  model m;
  CHECK(checked(m).code() == status_code::invalid_argument);
  CHECK(says(checked(m), "empty"));
  m.main().add_output(input(m.main(), "a"));
  CHECK(checked(m));
}

TEST_CASE("operators and domains that are not declared") {
  must_say(checked_with([](graph& g) { add(g, "Frob", {"a"}, {"y"}); }), status_code::invalid_graph,
           {"model.onnx: node 'y' (test.Frob, opset 1): there is no operator 'Frob' in domain 'test' at opset 1"});
  must_say(checked_with([](graph& g) { add(g, "Negate", {"a"}, {"y"}, {}, {}, "acme"); }), status_code::fail,
           {"node 'y'", "'acme'", "'Negate'"});
  must_say(checked_with([](graph& g) { add(g, "Late", {"a"}, {"y"}, {}, {}, "test", 3); }), status_code::invalid_graph,
           {"'Late'", "at opset 3", "appears in opset 7"});
  must_say(checked_with([](graph& g) { add(g, "Scale", {"a"}, {"y"}, {}, {}, "test", 3); }), status_code::invalid_graph,
           {"'Scale'", "deprecated since opset 3"});
  must_say(checked_with([](graph& g) { add(g, "Negate", {"a"}, {"y"}, {}, {}, "test", 0); }),
           status_code::invalid_graph, {"imports no opset of domain 'test'"});
  CHECK(checked_with([](graph& g) { add(g, "Negate", {"a"}, {"y"}, {}, {}, "test", 9'000); }));
}

TEST_CASE("arity") {
  must_say(checked_with([](graph& g) { add(g, "Plus", {"a"}, {"y"}); }), status_code::invalid_graph,
           {"input 'Y' is missing: it has 1 inputs, takes 2"});
  must_say(checked_with([](graph& g) { add(g, "Plus", {"", "a"}, {"y"}); }), status_code::invalid_graph,
           {"input 'X' is missing"});
  must_say(checked_with([](graph& g) { add(g, "Plus", {"a", "a", "a"}, {"y"}); }), status_code::invalid_graph,
           {"has 3 inputs, takes 2"});
  CHECK(checked_with([](graph& g) { add(g, "Plus", {"a", "a", ""}, {"y"}); }));
  must_say(checked_with([](graph& g) { add(g, "Scale", {"a", "a", "a"}, {"y"}, {number("by", 1.0f)}); }),
           status_code::invalid_graph, {"has 3 inputs, takes 1 to 2"});
  must_say(checked_with([](graph& g) { add(g, "Join", {"a"}, {"y"}); }), status_code::invalid_graph,
           {"has 1 inputs, takes at least 2"});
  must_say(checked_with([](graph& g) { add(g, "Join", {"a", "", "a"}, {"y"}); }), status_code::invalid_graph,
           {"input 2 of 3 ('all') is left out: none of variadic inputs may be"});
  must_say(checked_with([](graph& g) { add(g, "Negate", {"a"}, {"y", "z"}); }), status_code::invalid_graph,
           {"has 2 outputs, takes 1"});
  must_say(checked_with([](graph& g) {
             add(g, "Negate", {"a"}, {"y"});
             add(g, "Negate", {"a"}, {});
           }),
           status_code::invalid_graph, {"output 'Z' is missing"});
}

TEST_CASE("attributes") {
  const auto scale = [](std::vector<attribute> attributes) {
    return checked_with([&](graph& g) { add(g, "Scale", {"a"}, {"y"}, attributes); });
  };
  CHECK(scale({number("by", 2.0f)}));
  CHECK(scale({number("by", 2.0f), number("__private", 1.0f)}));
  must_say(scale({}), status_code::invalid_graph, {"attribute by (float) is missing"});
  must_say(scale({number("by", std::int64_t{2})}), status_code::invalid_graph,
           {"attribute by is of type int, must be float"});
  must_say(scale({number("by", 2.0f), number("bye", 2.0f)}), status_code::invalid_graph,
           {"no attribute 'bye'; it takes 'by', 'times'"});
  must_say(scale({number("by", 2.0f), number("by", 2.0f)}), status_code::invalid_graph, {"attribute 'by' twice"});
  must_say(scale({reference("by", attribute_kind::f, "alpha")}), status_code::invalid_graph,
           {"refers to 'alpha' of a caller, but this is not a function"});
  must_say(checked_with([](graph& g) { add(g, "Once", {}, {"y"}, {body_attribute()}); }), status_code::invalid_graph,
           {"attribute 'body' names a graph that the node does not have"});
  // A user's operator that declares no attributes takes any.
  const op_table own{{}, {operators::rows}};
  model m;
  input(m.main(), "a");
  add(m.main(), "Negate", {"a"}, {"y"}, {number("extra", 1.0f)});
  m.main().add_output(m.main().find("y"));
  CHECK(check_model(m, own));
}

TEST_CASE("element types") {
  must_say(checked_with([](graph& g) {
             input(g, "i", dtype::i32);
             add(g, "Negate", {"i"}, {"y"});
           }),
           status_code::invalid_graph,
           {"model.onnx: node 'y' (test.Negate, opset 1): input 'X' ('i') is tensor(int32); 'T' allows tensor(float), "
            "tensor(double)"});
  must_say(checked_with([](graph& g) {
             input(g, "d", dtype::f64);
             add(g, "Plus", {"a", "d"}, {"y"});
           }),
           status_code::invalid_graph, {"input 'Y' ('d') is tensor(double), but 'T' is tensor(float) already, by 'X'"});
  must_say(checked_with([](graph& g) {
             g[g.find("y")].type = g.owner().keep(value_type::tensor(dtype::f64));
             add(g, "Plus", {"a", "a"}, {"y"});
           }),
           status_code::invalid_graph, {"'y'", "is declared as tensor(double), but is tensor(float)"});
  CHECK(checked_with([](graph& g) {  // unknown types are accepted
    g.add_input(g.add_value("unknown"));
    add(g, "Plus", {"unknown", "a"}, {"y"});
  }));
}

TEST_CASE("inferred dims win over declared ones, also symbols over numbers, except for display") {
  model m;
  graph& g = m.main();
  const dim n = dim::named(m.symbol("N")), k = dim::named(m.symbol("K"));
  const value_id a = g.add_value("a", m.keep(value_type::tensor(dtype::f32, {n, k, dim{}, dim::fixed(4)})));
  g.add_input(a);
  const value_id y = g.add_value("y", m.keep(value_type::tensor(dtype::f32, {dim::fixed(2), n, k, dim::fixed(5)})));
  add(g, "Copy", {"a"}, {"y"});
  g.add_output(y);
  REQUIRE(checked(m));
  const std::vector<dim>& made = *g[y].type->shape;
  REQUIRE(made.size() == 4);
  CHECK(made[0] == n);
  CHECK(made[1] == k);
  CHECK(!made[2].same(k));  // it has the declared name, but is not the same size as others with it
  CHECK(m.symbols[made[2].symbol] == "K");
  CHECK(made[3] == dim::fixed(4));
  CHECK(*detail::described_type(g[y]).shape == std::vector<dim>{dim::fixed(2), k, made[2], dim::fixed(4)});
  REQUIRE(m.warnings.size() == 1);  // about the 5 that is a 4
  CHECK(m.warnings[0].starts_with("other-shape: 'y' is declared as "));
}

TEST_CASE("names: dangling, duplicate, cyclic") {
  must_say(checked_with([](graph& g) {
             g.add_value("ghost");
             add(g, "Negate", {"ghost"}, {"y"});
           }),
           status_code::invalid_argument, {"'ghost'", "used by node 'y'"});
  must_say(checked_with([](graph&) {}), status_code::invalid_argument, {"'y', used by a graph output"});
  must_say(checked_with([](graph& g) {
             add(g, "Negate", {"a"}, {"y"});
             const value_id twin = g.add_value("a");
             g.add_input(twin);
             g.add_output(twin);
           }),
           status_code::invalid_graph, {"two values are named 'a'"});
  must_say(checked_with([](graph& g) {
             add(g, "Negate", {"a"}, {"y"});
             add(g, "Plus", {"a", "a"}, {"y"});
           }),
           status_code::invalid_graph, {"makes 'y', which node 'y' (test.Plus, opset 1) makes too"});
  must_say(checked_with([](graph& g) { add(g, "Negate", {"a"}, {"a"}); }), status_code::invalid_graph,
           {"makes 'a', which is a graph input already"});
  must_say(checked_with([](graph& g) { add(g, "Negate", {"y"}, {"y"}); }), status_code::invalid_graph, {"cycle"});
}

TEST_CASE("errors in bodies contain the path of the node, and names may shadow") {
  must_say(checked_with([](graph& g) {
             graph& body = g.owner().add_graph(&g);
             body.name = "then";
             input(body, "i", dtype::i32);
             add(body, "Negate", {"i"}, {"a"});  // hides the outer value
             body.add_output(body.find("a"));
             add(g, "Once", {"a"}, {"y"}, {body_attribute()}, {&body});
           }),
           status_code::invalid_graph,
           {"model.onnx: node 'y' (test.Once, opset 1): body 'then': input: 'i': is declared as tensor(int32)"});
  must_say(checked_with([](graph& g) {
             graph& body = g.owner().add_graph(&g);
             body.name = "then";
             add(body, "Negate", {"a", "a"}, {"x"});
             body.add_output(body.find("x"));
             add(g, "Once", {}, {"y"}, {body_attribute()}, {&body});
           }),
           status_code::invalid_graph, {"body 'then': node 'x' (test.Negate, opset 1): has 2 inputs"});
  must_say(checked_with([](graph& g) {
             graph& body = g.owner().add_graph(&g);
             add(body, "Negate", {"a"}, {"x"});
             body.add_output(body.find("x"));
             add(g, "Once", {"a"}, {"y"}, {body_attribute()}, {&body});
           }),
           status_code::invalid_graph, {"takes 0 inputs, but gets 1"});
}

TEST_CASE("types flow into bodies and through captures") {
  model m;
  graph& g = m.main();
  input(g, "a");
  graph& body = m.add_graph(&g);
  body.add_input(body.add_value("p"));
  add(body, "Plus", {"p", "a"}, {"x"});
  body.add_output(body.find("x"));
  add(g, "Once", {"a"}, {"y"}, {body_attribute()}, {&body});
  g.add_output(g.find("y"));
  REQUIRE(checked(m));
  CHECK(body[body.find("a")].type == g[g.find("a")].type);
  CHECK(*g[g.find("y")].type->shape == std::vector<dim>{dim::fixed(2), dim::fixed(3)});
}

TEST_CASE("a constant node becomes a constant") {
  model m;
  graph& g = m.main();
  const std::int64_t three[] = {4, -1, 6};
  attribute ints{"value_ints", attribute_kind::ints};
  ints.ints = three;
  add(g, "Hold", {}, {"c"}, {ints});
  add(g, "Copy", {"c"}, {"y"});
  g.add_output(g.find("y"));
  REQUIRE(checked(m));
  const value* const c = g.constant_of(g.find("c"));
  REQUIRE(c);
  CHECK(c->as_unchecked<std::int64_t>()[1] == -1);
  CHECK(*g[g.find("y")].type->shape == std::vector<dim>{dim::fixed(3)});
  must_say(checked_with([](graph& h) { add(h, "Hold", {}, {"y"}); }), status_code::invalid_graph,
           {"needs exactly one"});
  must_say(checked_with([&](graph& h) { add(h, "Hold", {}, {"y"}, {ints, number("value_float", 1.0f)}); }),
           status_code::invalid_graph, {"'value_ints' and 'value_float' are both"});
}

TEST_CASE("functions: recursion, explosion, duplicates") {
  const auto calls = [](graph& g, std::string_view callee, std::string_view out) {
    add(g, callee, {g.inputs().empty() ? "a" : g[g.inputs()[0]].name}, {out}, {}, {}, "fun");
  };
  const auto body_of = [&](model& m, std::string_view name) -> graph& {
    graph& body = *add_function(m, name).body;
    body.add_input(body.add_value("p"));
    body.add_output(body.add_value("q"));
    return body;
  };
  model m;
  m.path = "model.onnx";
  input(m.main(), "a");
  calls(body_of(m, "f"), "g", "q");
  calls(body_of(m, "g"), "h", "q");
  calls(body_of(m, "h"), "g", "q");
  calls(m.main(), "f", "y");
  m.main().add_output(m.main().find("y"));
  must_say(checked(m), status_code::invalid_graph, {"must not call themselves: fun.g -> fun.h -> fun.g"});

  model wide;  // each calls the next twice: 2^40 nodes
  input(wide.main(), "a");
  for (int i = 0; i < 40; ++i) {
    graph& body = body_of(wide, "f" + std::to_string(i));
    const std::string next = "f" + std::to_string(i + 1);
    add(body, next, {"p"}, {"r"}, {}, {}, "fun");
    add(body, next, {"r"}, {"q"}, {}, {}, "fun");
  }
  add(body_of(wide, "f40"), "Negate", {"p"}, {"q"});
  calls(wide.main(), "f0", "y");
  wide.main().add_output(wide.main().find("y"));
  must_say(checked(wide), status_code::invalid_graph, {"more than 10000000 nodes once its functions are inlined"});

  model chain;  // a long chain of single calls
  input(chain.main(), "a");
  for (int i = 0; i < 20'000; ++i) calls(body_of(chain, "f" + std::to_string(i)), "f" + std::to_string(i + 1), "q");
  add(body_of(chain, "f20000"), "Negate", {"p"}, {"q"});
  calls(chain.main(), "f20000", "y");
  chain.main().add_output(chain.main().find("y"));
  CHECK(checked(chain));

  model twice;
  input(twice.main(), "a");
  add(body_of(twice, "f"), "Negate", {"p"}, {"q"});
  add(body_of(twice, "f"), "Negate", {"p"}, {"q"});
  calls(twice.main(), "f", "y");
  twice.main().add_output(twice.main().find("y"));
  must_say(checked(twice), status_code::invalid_graph, {"function 'fun.f'", "unique"});
}

TEST_CASE("the standard operators") {
  const auto with = [](std::string_view op, std::initializer_list<std::string_view> in, std::int64_t opset) {
    model m;
    input(m.main(), "a");
    input(m.main(), "i", dtype::i32);
    add(m.main(), op, in, {"y"}, {}, {}, "", opset);
    m.main().add_output(m.main().find("y"));
    return check_model(m, {});
  };
  CHECK(with("Add", {"a", "a"}, 28));
  CHECK(with("Add", {"a", "a"}, 99));  // a newer opset than the tables have
  must_say(with("Add", {"a", "i"}, 14), status_code::invalid_graph,
           {"node 'y' (Add, opset 14): input 'B' ('i') is tensor(int32), but 'T' is tensor(float) already, by 'A'"});
  must_say(with("Conv", {"a"}, 17), status_code::invalid_graph, {"(Conv, opset 17): input 'W' is missing"});
  must_say(with("Gelu", {"a"}, 13), status_code::invalid_graph, {"'Gelu' in domain 'ai.onnx'", "appears in opset 20"});
}

TEST_CASE("a function without a body is an error that names it") {
  model m;
  graph& g = m.main();
  input(g, "a");
  add(g, "Negate", {"a"}, {"y"});
  g.add_output(g.find("y"));
  m.functions.emplace_back().name = "Hollow";
  must_say(checked(m), status_code::invalid_graph, {"function", "Hollow", "has no body"});
}

TEST_CASE("symbols with one name get two names where names distinguish symbols") {
  model m;
  const std::uint32_t first = m.symbol("N"), second = m.another_symbol(first), third = m.another_symbol(first);
  const std::uint32_t taken = m.symbol("N_" + std::to_string(second));
  const std::vector<std::string> names = distinct_symbol_names(m);
  CHECK(names[first] == "N");
  CHECK(names[taken] == m.symbols[taken]);
  CHECK(std::set<std::string>{names.begin(), names.end()}.size() == m.symbols.size());
  CHECK(names[third].starts_with("N_"));
}

TEST_CASE("deeply nested bodies end the check, not the program") {
  model m;
  graph* g = &m.main();
  input(*g, "a");
  std::vector<graph*> nest{g};
  for (int i = 0; i < 1'000; ++i) nest.push_back(&m.add_graph(nest.back()));
  add(*nest.back(), "Negate", {"a"}, {"y"});
  nest.back()->add_output(nest.back()->find("y"));
  for (std::size_t i = nest.size() - 1; i-- > 0;) {
    add(*nest[i], "Once", {}, {"y"}, {body_attribute()}, {nest[i + 1]});
    nest[i]->add_output(nest[i]->find("y"));
  }
  must_say(checked(m), status_code::invalid_graph, {"nested more than 128 deep"});
}
