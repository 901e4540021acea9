#include <cameo/eps/cpu.hpp>
#include <cameo/eps/null.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/session/runtime.hpp>

#include <doctest/doctest.h>

namespace {

/// A model that computes y = max(x, 0).
std::unique_ptr<cameo::model> relu_model() {
  auto m = std::make_unique<cameo::model>();
  m->ir_version = 10;
  m->imports = {{"", 17}};
  cameo::graph& g = m->main();
  const cameo::value_id x =
      g.add_value("x", m->keep(cameo::value_type::tensor(cameo::dtype::f32, {cameo::dim::fixed(2)})));
  const cameo::value_id y = g.add_value("y");
  g.add_input(x);
  cameo::node_spec relu;
  relu.name = "only", relu.op_type = "Relu", relu.opset = 17;
  relu.inputs = {&x, 1}, relu.outputs = {&y, 1};
  g.add_node(relu);
  g.add_output(y);
  return m;
}

TEST_CASE("a provider that claims nothing leaves every node to the next one") {
  const cameo::runtime<cameo::eps::null, cameo::eps::cpu> runtime;
  auto session = runtime.load(relu_model());
  REQUIRE(session);
  CHECK(session->providers() == std::vector<std::string>{"null", "cpu"});
  const auto placed = session->placements(true);
  REQUIRE(placed.size() == 1);
  CHECK(placed[0].provider == "cpu");
  REQUIRE(placed[0].refusals.size() == 1);
  CHECK(placed[0].refusals[0] == "null declines it");
  auto outputs = session->run({{"x", cameo::any_value::tensor<float>({2}, {-1, 1})}});
  REQUIRE(outputs);
  CHECK((*outputs)[0].value.as_unchecked<float>()[0] == 0);
  CHECK((*outputs)[0].value.as_unchecked<float>()[1] == 1);
}

TEST_CASE("a model is an error if null is the only provider") {
  const cameo::runtime<cameo::partial<cameo::eps::null>> runtime;
  const auto session = runtime.load(relu_model());
  REQUIRE(!session);
  CHECK(session.error().code() == cameo::status_code::not_implemented);
  CHECK(session.error().words() == "node 'only' (Relu, opset 17): null declines it");
}

}  // namespace
