#include <cameo/graph/views.hpp>
#include <cameo/op/attributes/read_attribute.hpp>

#include <doctest/doctest.h>

#include "graph_maker.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// a -> Negate b -> Plus(b, c) d -> out; a -> Negate c; a constant w without readers.
void fill(model& m) {
  graph& g = m.main();
  input(g, "a");
  add(g, "Negate", {"a"}, {"b"});
  add(g, "Negate", {"a"}, {"c"});
  add(g, "Plus", {"b", "c"}, {"d"});
  g.add_output(g.find("d"));
  REQUIRE(check_model(m, table()));
}

std::string names(const auto& views) {
  std::string all;
  for (const auto& v : views) all += std::string{v.name()} + " ";
  return all;
}

}  // namespace

TEST_CASE("queries filter and project, lazily") {
  model m;
  fill(m);
  const graph_view g{m.main()};
  CHECK(names(g.nodes()) == "b c d ");
  CHECK(names(g.inputs()) == "a ");
  CHECK(names(g.outputs()) == "d ");
  CHECK(names(g.nodes() | where(has_op<Negate>)) == "b c ");
  CHECK(names(g.nodes() | where(has_op<Negate>) | cameo::select([](node_view n) { return n.output(0); })) == "b c ");
  CHECK(names(g.nodes() | cameo::select([](node_view n) { return n.input(0); }) |
              where([](value_view v) { return v.is_graph_input(); })) == "a a ");
  CHECK(count(g.nodes() | where(has_op<Scale>)) == 0);
  CHECK((g.nodes() | where(has_op<Scale>)).empty());

  std::size_t asked = 0;
  const auto query = g.nodes() | where([&](node_view) { return ++asked, true; });
  CHECK(asked == 0);
  CHECK((*query.begin()).name() == "b");
  CHECK(asked == 1);
}

TEST_CASE("a query outlives the expression that made it") {
  model m;
  fill(m);
  const auto make = [](const graph& g) { return graph_view{g}.nodes() | where(has_op<Plus>); };
  const auto query = make(m.main());
  const auto copy = query;
  CHECK(names(query) == "d ");
  CHECK(names(copy) == "d ");
}

TEST_CASE("values lead to their producers and readers") {
  model m;
  fill(m);
  graph& g = m.main();
  const value_view a{g, g.find("a")}, b{g, g.find("b")}, d{g, g.find("d")};
  CHECK(!a.producer());
  CHECK(b.producer().has_op<Negate>());
  CHECK(b.producer().since() == 1);
  CHECK(names(a.consumers()) == "c b ");
  CHECK(names(b.consumers()) == "d ");
  CHECK(count(d.consumers()) == 0);
  CHECK(b.sole_use());
  CHECK(!a.sole_use());
  CHECK(!d.sole_use());
  CHECK(names(a.consumers() | where([](node_view n) { return n.name() == "c"; })) == "c ");
  CHECK(b.element() == dtype::f32);
  const node_view plus = d.producer();
  CHECK(names(plus.inputs()) == "b c ");
  CHECK(names(plus.outputs()) == "d ");
  CHECK(plus.input(0) == b);
  CHECK(!plus.input(2));
  CHECK(!plus.output(1));
  CHECK(plus.find("by") == nullptr);
  CHECK(plus.inputs()[1].producer() != plus.inputs()[0].producer());
}

TEST_CASE("captures are visible from both sides") {
  model m;
  graph& g = m.main();
  input(g, "a");
  graph& body = m.add_graph(&g);
  add(body, "Negate", {"a"}, {"x"});
  body.add_output(body.find("x"));
  add(g, "Once", {}, {"y"}, {body_attribute()}, {&body});
  g.add_output(g.find("y"));
  REQUIRE(check_model(m, table()));
  const node_view once = graph_view{g}.nodes()[0];
  CHECK(names(once.captures()) == "a ");
  CHECK(value_view{g, g.find("a")}.sole_use());
  CHECK(value_view{body, body.find("a")}.is_capture());
  CHECK(count(graph_view{*once.subgraphs()[0]}.nodes() | where(has_op<Negate>)) == 1);
}

TEST_CASE("a node's attributes are read as a struct") {
  struct scaled {
    struct attributes {
      float factor = 1;
      std::optional<std::int64_t> times;
      explicit attributes(std::span<const attribute> node) {
        read_attribute(node, "by", factor);
        read_attribute(node, "times", times);
      }
    };
  };
  model m;
  graph& g = m.main();
  input(g, "a");
  add(g, "Scale", {"a"}, {"b"}, {{.name = "by", .kind = attribute_kind::f, .f = 2}});
  add(g, "Negate", {"b"}, {"c"});
  const auto made_of = [&](std::string_view name) { return value_view{g, g.find(name)}.producer(); };
  CHECK(made_of("b").attributes<scaled>().factor == 2.0f);
  CHECK(!made_of("b").attributes<scaled>().times);
  CHECK(made_of("c").attributes<scaled>().factor == 1.0f);
}
