// What a package of cameo must be able to do: make a graph, write it, load and run it.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>

#include <cstdio>
#include <string>

namespace {

/// y = relu(x), x of [4].
cameo::result<std::string> make_model() {
  cameo::model m;
  m.ir_version = 10;
  m.imports = {{"", 17}};
  cameo::graph& g = m.main();
  g.name = "package";
  const cameo::value_type* const four = m.keep(cameo::value_type::tensor(cameo::dtype::f32, {cameo::dim::fixed(4)}));
  const cameo::value_id x = g.add_value("x", four), y = g.add_value("y", four);
  g.add_input(x);
  cameo::node_spec relu;
  relu.op_type = "Relu", relu.opset = 17, relu.inputs = {&x, 1}, relu.outputs = {&y, 1};
  g.add_node(relu);
  g.add_output(y);
  return cameo::write_onnx(m);
}

}  // namespace

int main() {
  const auto bytes = make_model();
  if (!bytes) return cameo::report(bytes.error());
  const auto session = cameo::runtime<cameo::eps::cpu>{}.load(std::as_bytes(std::span{*bytes}));
  if (!session) return cameo::report(session.error());
  const float x[] = {-1, 0, 1, 2};
  const auto outputs = session->run({{"x", cameo::value::tensor<float>({4}, x)}});
  if (!outputs) return cameo::report(outputs.error());
  const auto y = (*outputs)[0].value.as_unchecked<float>();
  for (std::int64_t i = 0; i < 4; ++i)
    if (y[i] != (x[i] > 0 ? x[i] : 0)) return 1;
  std::puts("cameo runs here");
  return 0;
}
