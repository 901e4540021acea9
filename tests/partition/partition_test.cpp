#include <cameo/partition/partition.hpp>

#include "partition/reference_providers.hpp"

#include <stdexcept>
#include <stop_token>

namespace cameo::test {
namespace {

using eps::cpu;

TEST_CASE("1: A fuses MatMul and Relu, B gets the Add, cpu nothing") {
  const auto s = load(runtime{provider_a{}, provider_b{}, cpu{}}, chain());
  CHECK(placed(s) == "A_chain_0:a add:b");
  CHECK(agrees_with_cpu(s, chain()));
}

TEST_CASE("2: a group with a node that an earlier provider has is skipped as a whole") {
  const auto s = load(runtime{provider_b{}, provider_a{}, cpu{}}, chain());
  CHECK(placed(s) == "matmul:cpu relu:b add:b");
  CHECK(agrees_with_cpu(s, chain()));
}

TEST_CASE("3: with cpu named first A gets nothing, and both are listed") {
  session_options options;
  options.providers = {"CPUExecutionProvider", "a"};
  const auto s = load(runtime{provider_a{}, cpu{}}, chain(), options);
  CHECK(s->providers() == std::vector<std::string>{"cpu", "a"});
  CHECK(placed(s) == "matmul:cpu relu:cpu add:cpu");
  CHECK(agrees_with_cpu(s, chain()));
}

TEST_CASE("4: fused nodes are numbered over all providers, in the order they are made") {
  const auto two_chains = [] {
    auto m = make_model();
    graph& g = m->main();
    float_input(g, "x");
    onnx(g, "MatMul", {"x", "x"}, "m1");
    onnx(g, "Relu", {"m1"}, "r1");
    onnx(g, "MatMul", {"r1", "x"}, "m2");
    onnx(g, "Relu", {"m2"}, "r2");
    onnx(g, "Add", {"r2", "x"}, "sum");
    output(g, "sum");
    return m;
  };
  const auto s = load(runtime{provider_a{}, group_of_adds{}, cpu{}}, two_chains());
  CHECK(placed(s) == "A_chain_0:a A_chain_1:a B_sums_2:b");
  CHECK(agrees_with_cpu(s, two_chains()));
}

TEST_CASE("4: groups in an If's branches are numbered before those of its graph") {
  const auto s = load(runtime{provider_a{}, group_of_adds{}, cpu{}}, branches());
  CHECK(placed(s) == "choice:cpu A_chain_0:a A_chain_1:a A_chain_2:a B_sums_3:b");
  CHECK(agrees_with_cpu(s, branches()));
}

TEST_CASE("5: a group that insists on a node of another provider is an error that names both") {
  provider_a insistent;
  insistent.insists = true;
  const auto s = runtime{provider_b{}, insistent, cpu{}}.load(chain());
  REQUIRE(!s);
  CHECK(s.error().code() == status_code::fail);
  CHECK(s.error().words() == "A: claims node 'relu' (Relu), which B has already");
}

TEST_CASE("5: nodes that do not exist, and groups of several nodes without a name, are errors") {
  provider_a wrong;
  wrong.choose = [](const graph_view&) { return std::vector<node_group>{{{node_id{99}}, "g"}}; };
  CHECK(failure(runtime{wrong, cpu{}}, chain()) == "FAIL: A: claims a node that does not exist");
  wrong.choose = [](const graph_view& g) { return std::vector<node_group>{{{g.nodes()[0].id(), g.nodes()[1].id()}}}; };
  CHECK(failure(runtime{wrong, cpu{}}, chain()) == "FAIL: A: a group of several nodes needs a name");
}

TEST_CASE("6: compile must give one program per group, and no other provider is tried when it fails") {
  provider_a broken;
  const auto asked = std::make_shared<int>(0);
  broken.make = [asked](std::span<const fused_view>) -> result<std::vector<compiled_node>> {
    ++*asked;
    return std::vector<compiled_node>{};
  };
  CHECK(failure(runtime{broken, provider_b{}, cpu{}}, chain()) ==
        "FAIL: A: compiled 0 programs for 1 groups; one for each is needed");
  broken.make = [asked](std::span<const fused_view> groups) -> result<std::vector<compiled_node>> {
    ++*asked;
    return status{status_code::invalid_argument, "no license"}.in(groups[0].name);
  };
  CHECK(failure(runtime{broken, provider_b{}, cpu{}}, chain()) == "INVALID_ARGUMENT: A: A_chain_0: no license");
  CHECK(*asked == 2);
}

TEST_CASE("6: all groups of a provider are compiled in one call, with bodies that have the groups' inputs") {
  auto m = branches();
  provider_a a;
  const auto seen = std::make_shared<std::vector<std::string>>();
  a.make = [seen](std::span<const fused_view> groups) {
    seen->push_back(std::to_string(groups.size()));
    for (const fused_view& g : groups) {
      std::string line{g.name};
      for (value_view v : g.body.inputs()) line += " " + std::string{v.name()};
      line += " ->";
      for (value_view v : g.body.outputs()) line += " " + std::string{v.name()};
      seen->push_back(line);
    }
    return chains(groups);
  };
  const auto s = load(runtime{a, cpu{}}, std::move(m));
  CHECK(*seen == std::vector<std::string>{"3", "A_chain_0 x -> r1", "A_chain_1 x -> r2", "A_chain_2 x -> r0"});
}

TEST_CASE("8: a function that no provider takes is inlined, and A takes a node of its body") {
  const auto s = load(runtime{provider_a{}, cpu{}}, calls_function());
  REQUIRE(s->placements().size() == 2);
  CHECK(s->placements()[0].provider == "a");
  CHECK(s->placements()[0].fused_from == "MatMul, Relu");
  CHECK(s->placements()[1].op_type == "Add");
  CHECK(agrees_with_cpu(s, calls_function()));
}

TEST_CASE("8: a function that a provider takes stays whole") {
  const auto s = load(runtime{taker{{"Dense"}}, provider_a{}, cpu{}}, calls_function());
  CHECK(placed(s) == "call:taker");
}

TEST_CASE("8: nested functions are inlined until none is left") {
  auto m = calls_function();
  function outer{};
  outer.domain = "fun", outer.name = "Twice";
  outer.imports = m->functions[0].imports;
  outer.body = std::make_unique<graph>(*m, nullptr);
  graph& body = *outer.body;
  for (const char* name : {"fx", "fw", "fb"}) body.add_input(body.add_value(name));
  add(body, "Dense", {"fx", "fw", "fb"}, {"once"}, {}, {}, "fun", 1);
  add(body, "Dense", {"once", "fw", "fb"}, {"twice"}, {}, {}, "fun", 1);
  body.add_output(body.find("twice"));
  m->functions.push_back(std::move(outer));
  graph& g = m->main();
  add(g, "Twice", {"y", "w", "b"}, {"again"}, {}, {}, "fun", 1);
  output(g, "again");
  const auto s = load(runtime{provider_a{}, cpu{}}, std::move(m));
  std::size_t fused = 0;
  for (const placement_info& p : s->placements()) fused += p.provider == "a";
  CHECK(s->placements().size() == 6);
  CHECK(fused == 3);
}

TEST_CASE("8: the standard body of an operator without a kernel is inlined; with a kernel it is not") {
  const auto hard_swish = [] {
    auto m = make_model();
    graph& g = m->main();
    float_input(g, "x");
    onnx(g, "HardSwish", {"x"}, "y");
    output(g, "y");
    return m;
  };
  const auto opened = load(runtime<partial<taker>>{taker{{"HardSigmoid", "Mul"}}}, hard_swish());
  CHECK(op_types(opened) == "HardSigmoid Mul");
  const auto whole = load(runtime{taker{{"HardSigmoid", "Mul"}}, cpu{}}, hard_swish());
  CHECK(placed(whole) == "y:cpu");
}

TEST_CASE("9: a node that no provider can run is NOT_IMPLEMENTED, with each provider's reason") {
  CHECK(failure(runtime<partial<provider_b, taker>>{provider_b{}, taker{{"Add"}}}, chain()) ==
        "NOT_IMPLEMENTED: node 'matmul' (MatMul, opset 17): b declines it; taker declines it");
  CHECK(failure(runtime<partial<provider_a>>{provider_a{}}, chain()) ==
        "NOT_IMPLEMENTED: node 'add' (Add, opset 17): a has no group for it");
}

TEST_CASE("9: an unknown operator is INVALID_GRAPH in a known domain and FAIL in an unknown one") {
  auto typo = chain();
  onnx(typo->main(), "MatMull", {"x", "x"}, "typo");
  output(typo->main(), "typo");
  CHECK(failure(runtime{provider_a{}, cpu{}}, std::move(typo)).rfind("INVALID_GRAPH: ", 0) == 0);
  auto foreign = chain();
  add(foreign->main(), "Wish", {"x"}, {"wish"}, {}, {}, "somewhere.else", 1);
  output(foreign->main(), "wish");
  CHECK(failure(runtime{provider_a{}, cpu{}}, std::move(foreign)).rfind("FAIL: ", 0) == 0);
}

TEST_CASE("10: without the fallback every node needs another provider") {
  session_options strict;
  strict.config = {{"session.disable_cpu_ep_fallback", "1"}};
  const auto all = load(runtime{provider_a{}, provider_b{}, cpu{}}, chain(), strict);
  CHECK(placed(all) == "A_chain_0:a add:b");
  CHECK(all->providers() == std::vector<std::string>{"a", "b", "cpu"});
  CHECK(failure(runtime{provider_a{}, cpu{}}, chain(), strict) ==
        "FAIL: session.disable_cpu_ep_fallback is set, and node 'add' (Add) is only taken by the fallback 'cpu'");
  strict.providers = {"a", "b", "cpu"};
  CHECK(failure(runtime{provider_a{}, provider_b{}, cpu{}}, chain(), strict).rfind("INVALID_ARGUMENT: ", 0) == 0);
}

TEST_CASE("10: a Constant node is never run, so it needs no provider but the fallback") {
  auto m = chain();
  graph& g = m->main();
  add(g, "Constant", {}, {"c"}, {number("value_float", 0.5f)}, {}, "", 17);
  onnx(g, "Add", {"y", "c"}, "more");
  output(g, "more");
  session_options strict;
  strict.config = {{"session.disable_cpu_ep_fallback", "1"}};
  CHECK(runtime{provider_a{}, provider_b{}, cpu{}}.load(std::move(m), strict));
}

TEST_CASE("10: a node of a branch that only the fallback takes counts, too") {
  session_options strict;
  strict.config = {{"session.disable_cpu_ep_fallback", "1"}};
  provider_a main_graph_only;
  main_graph_only.choose = [](const graph_view& g) {
    return g.raw().outer() ? groups_result{} : *provider_a{}.groups(g);
  };
  CHECK(failure(runtime{main_graph_only, taker{{"If", "Add", "Relu"}}, cpu{}}, branches(), strict) ==
        "FAIL: session.disable_cpu_ep_fallback is set, and node 'm1' (MatMul) is only taken by the fallback 'cpu'");
}

TEST_CASE("11: a provider named twice is FAIL, an unknown one INVALID_ARGUMENT with a list of all") {
  session_options options;
  options.providers = {"b", "B"};
  CHECK(failure(runtime{provider_a{}, provider_b{}, cpu{}}, chain(), options) == "FAIL: provider 'b' is named twice");
  options.providers = {"gpu"};
  CHECK(failure(runtime{provider_a{}, provider_b{}, cpu{}}, chain(), options) ==
        "INVALID_ARGUMENT: there is no provider 'gpu' in this runtime; it has a, b, cpu; did you mean 'cpu'?");
}

TEST_CASE("names in the options narrow and reorder the runtime's list; the fallback stays last") {
  session_options options;
  options.providers = {"B"};
  const auto narrow = load(runtime{provider_a{}, provider_b{}, cpu{}}, chain(), options);
  CHECK(narrow->providers() == std::vector<std::string>{"b", "cpu"});
  CHECK(placed(narrow) == "matmul:cpu relu:b add:b");
  options.providers = {"b", "a"};
  const auto swapped = load(runtime{provider_a{}, provider_b{}, cpu{}}, chain(), options);
  CHECK(swapped->providers() == std::vector<std::string>{"b", "a", "cpu"});
  CHECK(placed(swapped) == "matmul:cpu relu:b add:b");
}

TEST_CASE("22: a stop while the second provider chooses ends loading with MODEL_LOAD_CANCELED") {
  std::stop_source source;
  session_options options;
  options.stop = source.get_token();
  const auto asked = std::make_shared<std::string>();
  taker second{{}};
  second.on_ask = [asked, source]() mutable { *asked += "2", source.request_stop(); };
  provider_a third;
  third.choose = [asked](const graph_view&) { return *asked += "3", groups_result{}; };
  CHECK(failure(runtime{provider_b{}, second, third, cpu{}}, chain(), options) ==
        "MODEL_LOAD_CANCELED: a stop of loading was requested while providers chose nodes");
  CHECK(*asked == "2");  // by MatMul, which B left
}

TEST_CASE("22: a stop before loading, and one while compiling, end it as well") {
  std::stop_source source;
  session_options options;
  options.stop = source.get_token();
  provider_a a;
  a.make = [source](std::span<const fused_view> groups) mutable { return source.request_stop(), chains(groups); };
  CHECK(failure(runtime{a, cpu{}}, chain(), options).rfind("MODEL_LOAD_CANCELED", 0) == 0);
  CHECK(failure(runtime{provider_b{}, cpu{}}, chain(), options).rfind("MODEL_LOAD_CANCELED", 0) == 0);
}

TEST_CASE("23: session.disable_model_compile refuses groups, not single nodes") {
  session_options options;
  options.config = {{"session.disable_model_compile", "1"}};
  CHECK(failure(runtime{provider_a{}, cpu{}}, chain(), options) ==
        "MODEL_REQUIRES_COMPILATION: A: would compile 'chain', but session.disable_model_compile is set");
  CHECK(placed(load(runtime{provider_b{}, cpu{}}, chain(), options)) == "matmul:cpu relu:b add:b");
  CHECK(placed(load(runtime<cpu>{}, chain(), options)) == "matmul:cpu relu:cpu add:cpu");
}

TEST_CASE("24: a group that feeds itself through another node is an error, not a deadlock") {
  provider_a greedy;
  greedy.choose = [](const graph_view& g) {
    node_group group{{}, "ends"};
    for (node_view n : g.nodes())
      if (n.name() != "relu") group.nodes.push_back(n.id());
    return std::vector<node_group>{group};
  };
  CHECK(failure(runtime{greedy, cpu{}}, chain()) ==
        "FAIL: A: the group is not convex: a path from it returns to its node 'add' (Add) through node 'relu' "
        "(Relu), which is not in it");
}

TEST_CASE("24: two groups of one provider that feed each other are an error") {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "x");
  onnx(g, "Relu", {"x"}, "a1");
  onnx(g, "Neg", {"a1"}, "b1");
  onnx(g, "Abs", {"x"}, "b2");
  onnx(g, "Exp", {"b2"}, "a2");
  output(g, "b1");
  output(g, "a2");
  provider_a crossing;
  crossing.choose = [](const graph_view& view) {
    const auto nodes = view.nodes();
    node_group a{{}, "a"}, b{{}, "b"};
    for (node_view n : nodes) (n.name()[0] == 'a' ? a : b).nodes.push_back(n.id());
    return std::vector<node_group>{a, b};
  };
  CHECK(failure(runtime{crossing, cpu{}}, std::move(m)) ==
        "FAIL: A: the group is not convex: a path from it returns to its node 'b1' (Neg) through the group "
        "'A_a_0', which is not in it");
}

TEST_CASE("an exception of a hook is EP_FAIL with the provider; in a run, RUNTIME_EXCEPTION with the node") {
  provider_a a;
  a.choose = [](const graph_view&) -> std::vector<node_group> { throw std::runtime_error{"no device"}; };
  CHECK(failure(runtime{a, cpu{}}, chain()) == "EP_FAIL: A: no device");
  a.choose = {};
  a.make = [](std::span<const fused_view>) -> result<std::vector<compiled_node>> { throw 7; };
  CHECK(failure(runtime{a, cpu{}}, chain()) == "EP_FAIL: A: something was thrown");
  taker t{{"Add"}};
  t.on_ask = [] { throw std::runtime_error{"no driver"}; };
  CHECK(failure(runtime{t, cpu{}}, chain()) == "EP_FAIL: TakerExecutionProvider: no driver");
  t.on_ask = {};
  t.on_run = [] { throw std::runtime_error{"device lost"}; };
  const auto s = load(runtime{t, cpu{}}, chain());
  const auto ran = run(*s);
  REQUIRE(!ran);
  CHECK(ran.error().code() == status_code::runtime_exception);
  CHECK(says(ran.error(), "node 'add' (Add): device lost"));
}

TEST_CASE("no provider at all is INVALID_ARGUMENT") {
  const auto s = detail::loader{{}, default_formats::rows}.load(chain(), {});
  REQUIRE(!s);
  CHECK(s.error().code() == status_code::invalid_argument);
}

}  // namespace
}  // namespace cameo::test
