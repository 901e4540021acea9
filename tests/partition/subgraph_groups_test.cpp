// Groups of nodes with subgraphs: captures, and assignments of nodes in them.
#include <cameo/partition/convex_groups.hpp>

#include "partition/graph_runner.hpp"

namespace cameo::test {
namespace {

using eps::cpu;

void float_constant(graph& g, std::string_view name, std::initializer_list<float> elements) {
  float* const kept = static_cast<float*>(g.owner().memory.allocate(elements.size() * sizeof(float), 64));
  std::copy(elements.begin(), elements.end(), kept);
  const value_id v = g.add_value(name, g.owner().keep(value_type::tensor(dtype::f32, {dim::fixed(2), dim::fixed(2)})));
  g.add_initializer(v, g.owner().memory.keep(value::tensor(dtype::f32, extents{2, 2}, kept)));
}
void condition_input(graph& g) {
  g.add_input(g.add_value("condition", g.owner().keep(value_type::tensor(dtype::boolean, std::vector<dim>{}))));
}
std::vector<attribute> branch_attributes() {
  attribute first{"then_branch", attribute_kind::g}, second{"else_branch", attribute_kind::g};
  second.i = 1;
  return {first, second};
}
graph& below(graph& g) { return g.owner().add_graph(&g); }

/// inner = relu(x); outer = -x; choice = condition ? inner + w : (condition ? outer * inner : inner); y = choice +
/// outer. The group takes Relu and If: it makes `inner`; `outer` is made outside, and w is an initializer.
std::unique_ptr<model> nested_if() {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "x");
  condition_input(g);
  float_constant(g, "w", {1, 2, 3, 4});
  onnx(g, "Relu", {"x"}, "inner");
  onnx(g, "Neg", {"x"}, "outer");
  graph &yes = below(g), &no = below(g);
  onnx(yes, "Add", {"inner", "w"}, "yes");
  output(yes, "yes");
  graph &deep_yes = below(no), &deep_no = below(no);
  onnx(deep_yes, "Mul", {"outer", "inner"}, "deep_yes");
  output(deep_yes, "deep_yes");
  onnx(deep_no, "Mul", {"inner", "x"}, "deep_no");
  output(deep_no, "deep_no");
  onnx(no, "Not", {"condition"}, "otherwise");
  add(no, "If", {"otherwise"}, {"no"}, branch_attributes(), {&deep_yes, &deep_no}, "", 17);
  output(no, "no");
  add(g, "If", {"condition"}, {"choice"}, branch_attributes(), {&yes, &no}, "", 17);
  onnx(g, "Add", {"choice", "outer"}, "y");
  output(g, "y");
  return m;
}

/// sum = x + 3 (inner + outer w), by a Loop; y = sum + outer.
std::unique_ptr<model> loop() {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "x");
  float_constant(g, "w", {1, 2, 3, 4});
  auto* const trips = static_cast<std::int64_t*>(m->memory.allocate(8, 64));
  *trips = 3;
  g.add_initializer(g.add_value("trips"), m->memory.keep(value::tensor(dtype::i64, extents{}, trips)));
  onnx(g, "Relu", {"x"}, "inner");
  onnx(g, "Neg", {"x"}, "outer");
  graph& body = below(g);
  body.add_input(body.add_value("turn", m->keep(value_type::tensor(dtype::i64, std::vector<dim>{}))));
  body.add_input(body.add_value("goes_on", m->keep(value_type::tensor(dtype::boolean, std::vector<dim>{}))));
  float_input(body, "so_far");
  onnx(body, "Identity", {"goes_on"}, "still");
  onnx(body, "MatMul", {"outer", "w"}, "product");
  onnx(body, "Add", {"inner", "product"}, "term");
  onnx(body, "Add", {"so_far", "term"}, "next");
  output(body, "still");
  output(body, "next");
  attribute is_body{"body", attribute_kind::g};
  add(g, "Loop", {"trips", "", "x"}, {"sum"}, {is_body}, {&body}, "", 17);
  onnx(g, "Add", {"sum", "outer"}, "y");
  output(g, "y");
  return m;
}

/// Runs with a false condition, and run()'s numbers for x; empty if that fails.
std::vector<float> run_otherwise(const session& s) {
  const any_value x = any_value::tensor<float>({2, 2}, {1, -2, 0.5f, 3}), no = any_value::tensor<bool>({}, {false});
  const auto y = s.run({{"x", x}, {"condition", no}});
  if (!y) return {};
  const auto elements = (*y)[0].value.as_unchecked<float>();
  return {elements.begin(), elements.end()};
}

TEST_CASE(
    "a group takes an If with its graphs: what they capture from outside becomes its input, also from two levels up") {
  whole_taker whole{{"Relu", "If"}};
  const auto s = load(runtime{whole, cpu{}}, nested_if());
  REQUIRE(whole.seen->size() == 1);
  CHECK(whole.seen->front() == "in x condition outer; has w; Relu If; out choice");
  CHECK(op_types(s) == "Neg Whole_all_1 Add");  // 0 was the inner If, until the larger group took it
  CHECK(s->placements()[1].fused_from == "Relu, If");
  CHECK(agrees_with_cpu(s, nested_if()));
  const auto alone = load(runtime<cpu>{}, nested_if());
  CHECK(run_otherwise(*s) == run_otherwise(*alone));
  CHECK(!run_otherwise(*s).empty());
}

TEST_CASE("a group takes a Loop that captures a value of the group, one from outside, and an initializer") {
  whole_taker whole{{"Relu", "Loop"}};
  const auto s = load(runtime{whole, cpu{}}, loop());
  REQUIRE(whole.seen->size() == 1);
  CHECK(whole.seen->front() == "in x outer; has trips w; Relu Loop; out sum");
  CHECK(agrees_with_cpu(s, loop()));
}

TEST_CASE("captures of a single Loop are inputs; a value that two graphs capture is one input") {
  whole_taker of_loop{{"Loop"}}, of_if{{"If"}};
  const auto one = load(runtime{of_loop, cpu{}}, loop());
  CHECK(of_loop.seen->front() == "in x outer inner; has trips w; Loop; out sum");
  CHECK(agrees_with_cpu(one, loop()));
  const auto other = load(runtime{of_if, cpu{}}, nested_if());
  // The inner If is offered first, and becomes a part of the larger group.
  CHECK(*of_if.seen == std::vector<std::string>{"in condition inner outer x; has w; If; out choice"});
  CHECK(agrees_with_cpu(other, nested_if()));
}

TEST_CASE("a provider's nodes in a subgraph become part of the group that contains the subgraph") {
  whole_taker whole{{"Relu", "If", "Add", "Mul", "Not"}};
  session_options options;
  options.config = {{"session.record_ep_graph_assignment_info", "1"}};
  std::size_t inside = 0;
  whole.look = [&](const graph& body) {
    const auto count = [&](const auto& self, const graph& g) -> void {
      for (node_id n : g.order()) {
        ++inside;
        CHECK(g[n].provider < 0);
        CHECK(g[n].fused < 0);
        CHECK(g[n].op != nullptr);
        for (const graph* sub : g[n].subgraphs) {
          CHECK(sub->outer() == &g);
          CHECK(sub->holder() == n);
          self(self, *sub);
        }
      }
    };
    count(count, body);
  };
  const auto s = load(runtime{whole, cpu{}}, nested_if(), options);
  CHECK(whole.seen->size() == 1);
  CHECK(inside == 3 + 1 + 2 + 2);  // nodes of the main graph, of the If's graphs and of the inner If's
  CHECK(op_types(s).find("Whole_all") != std::string::npos);
  CHECK(s->placements().size() == 2);
  CHECK(agrees_with_cpu(s, nested_if()));
  const auto alone = load(runtime<cpu>{}, nested_if());
  CHECK(run_otherwise(*s) == run_otherwise(*alone));
}

TEST_CASE("an assignment lists the nodes in a group's graphs, unless the provider had them before") {
  session_options options;
  options.config = {{"session.record_ep_graph_assignment_info", "1"}};
  const auto names = [&](whole_taker whole) {
    const auto s = load(runtime{whole, cpu{}}, nested_if(), options);
    std::string text;
    for (const ep_assignment& each : *s->assignments()) {
      if (each.provider != "Whole") continue;
      for (const ep_assignment::node& n : each.nodes) text += n.name + " ";
      text += "| ";
    }
    return text;
  };
  CHECK(names({{"Relu", "If"}}) == "no deep_yes deep_no | inner choice yes otherwise | ");
  CHECK(names({{"Mul"}}) == "deep_yes | deep_no | ");
}

TEST_CASE("a group is skipped when another provider has a node in its graphs; loading fails if the group insists") {
  const auto load_with = [](bool insists) {
    whole_taker whole{{"If"}};
    whole.insists = insists;
    return runtime{taker{{"Mul"}}, whole, cpu{}}.load(nested_if());
  };
  const auto s = load_with(false);
  REQUIRE(s);
  CHECK(op_types(s).find("Whole_all") == std::string::npos);
  const auto refused = load_with(true);
  REQUIRE(!refused);
  CHECK(std::string{refused.error().words()} ==
        "Whole: claims node 'deep_yes' (Mul), which TakerExecutionProvider has already");
}

TEST_CASE("a group is skipped when a node in its graphs is withheld from its provider") {
  struct whole_on_cpu : whole_taker {
    result<std::vector<provider_device>> devices() const { return one_device(device_kind::cpu); }
  };
  whole_on_cpu whole{{{"Relu", "If"}}};
  session_options options;
  options.config = {{"session.name_based_layer_assignment", "npu(deep_no)"}};
  const auto s = load(runtime{whole, on_npu{}, cpu{}}, nested_if(), options);
  CHECK(whole.seen->empty());
  CHECK(op_types(s).find("If") != std::string::npos);
  options.config = {{"session.name_based_layer_assignment", "npu(nothing)"}};
  const auto free = load(runtime{whole, on_npu{}, cpu{}}, nested_if(), options);
  CHECK(op_types(free).find("Whole_all") != std::string::npos);
  CHECK(whole.seen->size() == 1);
  whole.insists = true;
  options.config = {{"session.name_based_layer_assignment", "npu(deep_no)"}};
  CHECK(failure(runtime{whole, on_npu{}, cpu{}}, nested_if(), options) ==
        "FAIL: Whole: claims node 'deep_no' (Mul), but is not offered it: session.name_based_layer_assignment assigns "
        "the node "
        "to npu");
}

/// first = relu(x); between = -first; y = condition ? |between or first| : |x|.
std::unique_ptr<model> captured_in_between(std::string_view captured) {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "x");
  condition_input(g);
  onnx(g, "Relu", {"x"}, "first");
  onnx(g, "Neg", {"first"}, "between");
  graph &yes = below(g), &no = below(g);
  onnx(yes, "Abs", {captured}, "yes");
  output(yes, "yes");
  onnx(no, "Abs", {"x"}, "no");
  output(no, "no");
  add(g, "If", {"condition"}, {"y"}, branch_attributes(), {&yes, &no}, "", 17);
  output(g, "y");
  output(g, "between");
  REQUIRE(g.sort());
  return m;
}

TEST_CASE("a group with a path that leaves it and returns through a capture is not convex") {
  CHECK(failure(runtime{whole_taker{{"Relu", "If"}}, cpu{}}, captured_in_between("between")) ==
        "FAIL: Whole: the group is not convex: a path from it returns to its node 'y' (If) through node 'between' "
        "(Neg), which is not in it");
}

TEST_CASE("convex_groups separates nodes that such a path separates, and joins nodes that only a capture connects") {
  for (const std::string_view captured : {"between", "first"}) {
    const auto m = captured_in_between(captured);
    const graph& g = m->main();
    const std::vector<node_id> mine{named(g, "first"), named(g, "y")};
    CHECK(convex_groups(graph_view{g}, mine).size() == (captured == "first" ? 1 : 2));
  }
}

}  // namespace
}  // namespace cameo::test
