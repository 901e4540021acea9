// Tests sessions with compiled groups that contain subgraphs, and with groups inside subgraphs.
#include "partition/graph_runner.hpp"

#include <thread>

namespace cameo::test {
namespace {

using eps::cpu;

/// A loop of 3 iterations: if (iteration == 1) x = -(x + start) else x = x * start, where start = relu(input).
std::unique_ptr<model> branch_in_loop(std::size_t shift = 0) {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "x");
  const auto number = [&](std::string_view name, std::int64_t v) {
    char* const place = static_cast<char*>(m->memory.allocate(16, 64)) + shift;
    std::memcpy(place, &v, sizeof v);
    g.add_initializer(g.add_value(name, m->keep(value_type::tensor(dtype::i64, std::vector<dim>{}))),
                      m->memory.keep(value::tensor(dtype::i64, extents{}, place)));
  };
  number("trips", 3), number("one", 1);
  onnx(g, "Relu", {"x"}, "start");
  graph& body = m->add_graph(&g);
  body.add_input(body.add_value("turn", m->keep(value_type::tensor(dtype::i64, std::vector<dim>{}))));
  body.add_input(body.add_value("goes_on", m->keep(value_type::tensor(dtype::boolean, std::vector<dim>{}))));
  float_input(body, "so_far");
  onnx(body, "Identity", {"goes_on"}, "still");
  graph &yes = m->add_graph(&body), &no = m->add_graph(&body);
  onnx(yes, "Add", {"so_far", "start"}, "sum");
  onnx(yes, "Neg", {"sum"}, "yes");
  output(yes, "yes");
  onnx(no, "Mul", {"so_far", "start"}, "no");
  output(no, "no");
  onnx(body, "Equal", {"turn", "one"}, "second");
  attribute first{"then_branch", attribute_kind::g}, other{"else_branch", attribute_kind::g};
  other.i = 1;
  add(body, "If", {"second"}, {"next"}, {first, other}, {&yes, &no}, "", 17);
  output(body, "still");
  output(body, "next");
  add(g, "Loop", {"trips", "", "x"}, {"y"}, {{"body", attribute_kind::g}}, {&body}, "", 17);
  output(g, "y");
  return m;
}

TEST_CASE("a group in a loop's body has captured values of the body and of outer graphs as inputs of each iteration") {
  whole_taker whole{{"If", "Equal"}};
  const auto s = load(runtime{whole, cpu{}}, branch_in_loop());
  CHECK(*whole.seen == std::vector<std::string>{"in turn so_far start; has one; Equal If; out next"});
  CHECK(agrees_with_cpu(s, branch_in_loop()));
}

TEST_CASE("a compiled loop is run by several threads at once, each on its own values") {
  whole_taker whole{{"Relu", "Loop"}};
  const auto s = load(runtime{whole, cpu{}}, branch_in_loop());
  REQUIRE(whole.seen->size() == 1);
  REQUIRE(s->placements().size() == 1);
  CHECK(s->placements()[0].fused_from == "Relu, Loop");
  const auto alone = load(runtime<cpu>{}, branch_in_loop());
  std::vector<int> wrong(4);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const any_value x = any_value::tensor<float>({2, 2}, {float(t), float(i), -1, 0.5f});
        const auto got = s->run({{"x", x}}), want = alone->run({{"x", x}});
        const auto elements = [](const result<named_values>& r) {
          const auto v = (*r)[0].value.as_unchecked<float>();
          return std::vector<float>(v.begin(), v.end());
        };
        if (!got || !want || elements(got) != elements(want)) ++wrong[t];
      }
    });
  threads.clear();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("constants that a group's subgraphs capture are aligned, and are the same as those of the group") {
  whole_taker whole{{"Loop"}};
  std::size_t captured = 0;
  whole.look = [&](const graph& body) {
    const graph& loop = *body[body.order()[0]].subgraphs[0];
    for (value_id v : loop.captures())
      if (const value* const constant = loop[v].constant) {
        ++captured;
        CHECK(reinterpret_cast<std::uintptr_t>(constant->data) % alignof(std::int64_t) == 0);
        CHECK(constant == body[loop[v].outer].constant);
      }
    CHECK(reinterpret_cast<std::uintptr_t>(body[body.find("trips")].constant->data) % alignof(std::int64_t) == 0);
  };
  const auto s = load(runtime{whole, cpu{}}, branch_in_loop(1));
  CHECK(captured == 1);
  CHECK(agrees_with_cpu(s, branch_in_loop()));
}

}  // namespace
}  // namespace cameo::test
