#include <cameo/graph/graph.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <set>

#include "full_speed.hpp"
#include "graph_maker.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

std::multiset<std::pair<std::size_t, std::size_t>> uses_of(const graph& g, value_id v) {
  std::multiset<std::pair<std::size_t, std::size_t>> all;
  for (graph::use u : g.uses(v)) all.emplace(index_of(u.node), u.position);
  CHECK(all.size() == g[v].use_count);
  return all;
}
using uses = std::multiset<std::pair<std::size_t, std::size_t>>;

}  // namespace

TEST_CASE("the lists of uses follow every change of inputs") {
  model m;
  graph& g = m.main();
  const value_id a = input(g, "a"), b = input(g, "b");
  add(g, "Plus", {"a", "a"}, {"c"});
  const node_id second = add(g, "Plus", {"a", "c"}, {"d"});
  CHECK(uses_of(g, a) == uses{{0, 0}, {0, 1}, {1, 0}});

  g.set_input(second, 0, b);
  CHECK(uses_of(g, a) == uses{{0, 0}, {0, 1}});
  CHECK(uses_of(g, b) == uses{{1, 0}});

  const value_id three[] = {a, value_id::none, b};
  g.set_inputs(second, three);
  CHECK(g[second].input_count == 3);
  CHECK(uses_of(g, b) == uses{{1, 2}});
  CHECK(uses_of(g, g.find("c")).empty());

  g.replace_uses(a, b);
  CHECK(uses_of(g, a).empty());
  CHECK(uses_of(g, b) == uses{{0, 0}, {0, 1}, {1, 0}, {1, 2}});
  g.replace_uses(b, b);
  CHECK(g[b].use_count == 4);

  g.remove_node(second);
  g.remove_node(second);
  CHECK(uses_of(g, b) == uses{{0, 0}, {0, 1}});
  CHECK(g[g.find("d")].producer == node_id::none);
  CHECK(g.sort());
  CHECK(g.order().size() == 1);
}

TEST_CASE("a name of outer scope is captured level by level and becomes an input of each holder") {
  model m;
  graph& main = m.main();
  const value_id a = input(main, "a");
  graph& middle = m.add_graph(&main);
  graph& inner = m.add_graph(&middle);
  add(inner, "Plus", {"a", "a"}, {"x"});
  inner.add_output(inner.find("x"));
  const node_id middle_holder = add(middle, "Once", {}, {"y"}, {body_attribute()}, {&inner});
  middle.add_output(middle.find("y"));
  const node_id main_holder = add(main, "Once", {}, {"z"}, {body_attribute()}, {&middle});

  REQUIRE(middle.captures().size() == 1);
  REQUIRE(inner.captures().size() == 1);
  CHECK(middle[middle.captures()[0]].outer == a);
  CHECK(inner[inner.captures()[0]].outer == middle.captures()[0]);
  CHECK(inner.holder() == middle_holder);
  CHECK(main[main_holder].capture_count == 1);
  CHECK(main.capture(main_holder, 0) == a);
  CHECK(uses_of(main, a) == uses{{0, 0}});
  CHECK(inner.resolve("a") == inner.captures()[0]);
  CHECK(inner.resolve("nobody") == value_id::none);
  CHECK(inner.find("nobody") == value_id::none);

  // A capture may be added after the nodes that hold the subgraphs exist. It comes after their other captures.
  const value_id b = input(main, "b");
  const value_id b_inside = inner.resolve("b");
  CHECK(inner[b_inside].outer == middle.captures()[1]);
  CHECK(main[main_holder].capture_count == 2);
  CHECK(main.capture(main_holder, 1) == b);
  CHECK(main.capture(main_holder, 0) == a);

  // Inputs change, captures stay.
  const value_id only_b[] = {b};
  main.set_inputs(main_holder, only_b);
  CHECK(main.input(main_holder, 0) == b);
  CHECK(main.capture(main_holder, 0) == a);
  CHECK(main.capture(main_holder, 1) == b);
  CHECK(uses_of(main, b) == uses{{0, 0}, {0, 2}});
}

TEST_CASE("a thousand names are found while others change, and the first of equal names stays found") {
  model m;
  graph& main = m.main();
  graph& body = m.add_graph(&main);
  add(main, "Once", {}, {"y"}, {body_attribute()}, {&body});
  std::vector<std::string> names, fresh_names;
  for (int i = 0; i < 1000; ++i) names.push_back(std::to_string(i)), fresh_names.push_back("fresh" + names.back());
  std::vector<value_id> outer, captured;
  for (const std::string& name : names) outer.push_back(input(main, name));
  for (const std::string& name : names) captured.push_back(body.resolve(name));
  for (std::size_t i = 0; i < 1000; i += 2) main.replace_uses(outer[i], input(main, fresh_names[i]));
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(main.find(names[i]) == outer[i]);
    CHECK(body.find(names[i]) == (i % 2 ? captured[i] : value_id::none));
    CHECK(body.find(fresh_names[i]) == (i % 2 ? value_id::none : captured[i]));
  }
  std::vector<value_id> added;
  for (const std::string& name : names) added.push_back(body.add_value(name));
  for (std::size_t i = 0; i < 1000; ++i) CHECK(body.find(names[i]) == (i % 2 ? captured[i] : added[i]));
  CHECK(body.find("") == value_id::none);
}

TEST_CASE("replacing uses reaches into bodies, and two captures of one value become one") {
  model m;
  graph& main = m.main();
  const value_id a = input(main, "a"), b = input(main, "b"), c = input(main, "c");
  graph& body = m.add_graph(&main);
  add(body, "Plus", {"a", "b"}, {"x"});
  body.add_output(body.resolve("a"));
  const node_id holder = add(main, "Once", {}, {"y"}, {body_attribute()}, {&body});

  main.replace_uses(a, c);
  CHECK(main[holder].capture_count == 2);
  CHECK(uses_of(main, a).empty());
  CHECK(body.find("a") == value_id::none);
  CHECK(body[body.outputs()[0]].outer == c);
  CHECK(body.capture_of(c) == body.outputs()[0]);

  main.replace_uses(c, b);
  CHECK(main[holder].capture_count == 1);
  CHECK(uses_of(main, b) == uses{{0, 0}});
  REQUIRE(body.captures().size() == 1);
  CHECK(body[body.captures()[0]].outer == b);
  CHECK(body[body.captures()[0]].use_count == 2);
  CHECK(body.outputs()[0] == body.captures()[0]);
}

TEST_CASE("sorting is stable, and puts nodes that are ready first first") {
  model m;
  graph& g = m.main();
  input(g, "a");
  for (std::string_view name : {"late", "b", "c", "d"}) g.add_value(name);
  add(g, "Plus", {"b", "c"}, {"d"});
  add(g, "Negate", {"a"}, {"b"});
  add(g, "Negate", {"a"}, {"c"});
  add(g, "Negate", {"d"}, {"late"});
  REQUIRE(g.sort());
  const std::vector<std::size_t> expected{1, 2, 0, 3};
  std::vector<std::size_t> order;
  for (node_id n : g.order()) order.push_back(index_of(n));
  CHECK(order == expected);
}

TEST_CASE("captures count as inputs when sorting") {
  model m;
  graph& g = m.main();
  input(g, "a");
  g.add_value("b");
  graph& body = m.add_graph(&g);
  add(body, "Negate", {"b"}, {"x"});
  body.add_output(body.find("x"));
  add(g, "Once", {}, {"y"}, {body_attribute()}, {&body});
  add(g, "Negate", {"a"}, {"b"});
  REQUIRE(g.sort());
  CHECK(index_of(g.order()[0]) == 1);
}

TEST_CASE("the error of a cycle contains a node of it") {
  model m;
  graph& g = m.main();
  input(g, "a");
  g.add_value("c");
  add(g, "Negate", {"a"}, {"before"});
  add(g, "Plus", {"before", "c"}, {"b"});
  add(g, "Negate", {"b"}, {"c"});
  add(g, "Negate", {"c"}, {"behind"});
  const status bad = g.sort();
  CHECK(bad.code() == status_code::invalid_graph);
  CHECK((says(bad, "node 'b' (test.Plus, opset 1) is part of a cycle") ||
         says(bad, "node 'c' (test.Negate, opset 1) is part of a cycle")));
  g.set_input(node_id{1}, 1, g.find("b"));
  CHECK(says(g.sort(), "node 'b' (test.Plus, opset 1) is part of a cycle"));
}

TEST_CASE("outputs, initializers and names") {
  model m;
  graph& g = m.main();
  const float two[] = {1, 2};
  const value constant = value::tensor<float>({2}, two);
  const value_id w = g.add_value("w"), v = g.add_value("v");
  g.add_initializer(w, &constant);
  CHECK(g.constant_of(w) == &constant);
  g.add_input(w);
  CHECK(g.constant_of(w) == nullptr);
  m.ir_version = 3;  // in this version every initializer is an input, and none may be replaced
  CHECK(g.constant_of(w) == &constant);
  g.remove_initializer(w);
  CHECK(g.initializers().empty());
  g.add_output(w);
  const value_id other[] = {v};
  g.set_outputs(other);
  CHECK(!g[w].is_output);
  CHECK(g[v].is_output);

  graph& body = m.add_graph(&g);
  CHECK(g.unique_name("fresh") == "fresh");
  CHECK(g.unique_name("w") != "w");
  CHECK(body.unique_name("w") != "w");
  CHECK(m.symbol("N") == m.symbol("N"));
  CHECK(m.symbol("N") != m.fresh_symbol());
  CHECK(m.fresh_symbol() != m.fresh_symbol());
  add_function(m, "f");
  add_function(m, "g");
  CHECK(m.find_function("fun", "g", "") == &m.functions[1]);
  CHECK(m.find_function("fun", "g", "other") == nullptr);
}

TEST_CASE("many nodes: a chain, a DAG and many captures build, sort and check") {
  constexpr std::size_t many = full_speed ? 100'000 : 10'000;
  const auto timed = [](const std::string& what, auto work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    MESSAGE(what << ": " << took.count() << " s");
  };
  const op_table ops = table();
  const auto node = [](graph& g, std::string_view op, std::span<const value_id> in, std::size_t i) {
    const std::string name = "v" + std::to_string(i);
    const value_id out = g.add_value(name);
    g.add_node({name, "test", op, {}, {}, 1, in, {&out, 1}});
    return out;
  };
  timed("chain", [&] {
    model m;
    graph& g = m.main();
    value_id last = input(g, "a");
    for (std::size_t i = 0; i < many; ++i) last = node(g, "Negate", {&last, 1}, i);
    g.add_output(last);
    REQUIRE(check_model(m, ops));
    CHECK(g.order().size() == many);
    CHECK(g[last].type->type == dtype::f32);
  });
  timed("DAG", [&] {
    model m;
    graph& g = m.main();
    std::vector<value_id> all{input(g, "a")};
    for (std::size_t i = 0; i < many; ++i) {
      const value_id in[] = {all[i * 7919 % all.size()], all[i / 2]};
      all.push_back(node(g, "Plus", in, i));
    }
    g.add_output(all.back());
    REQUIRE(check_model(m, ops));
    CHECK(g.order().size() == many);
    for (std::size_t i = 1; i < all.size(); ++i) g.replace_uses(all[i], all[0]);
    CHECK(g[all[0]].use_count == 2 * many);
  });
  timed("reversed chain", [&] {
    model m;
    graph& g = m.main();
    const value_id first = input(g, "a");
    value_id out = g.add_value("out");
    g.add_output(out);
    for (std::size_t i = 0; i < many; ++i) {
      const value_id in = i + 1 == many ? first : g.add_value("v" + std::to_string(i));
      g.add_node({"n", "test", "Negate", {}, {}, 1, {&in, 1}, {&out, 1}});
      out = in;
    }
    REQUIRE(check_model(m, ops));
    CHECK(g.order().size() == many);
  });
  timed("captures", [&] {
    model m;
    graph& g = m.main();
    graph& body = m.add_graph(&g);
    std::vector<value_id> ends;
    for (std::size_t i = 0; i < many; ++i) {
      const std::string name = "v" + std::to_string(i);
      input(g, name);
      const value_id in = body.resolve(name), out = body.add_value("x" + std::to_string(i));
      body.add_node({name, "test", "Negate", {}, {}, 1, {&in, 1}, {&out, 1}});
    }
    body.add_output(body.find("x0"));
    const node_id holder = add(g, "Once", {}, {"y"}, {body_attribute()}, {&body});
    g.add_output(g.find("y"));
    REQUIRE(check_model(m, ops));
    CHECK(g[holder].capture_count == many);
  });
}
