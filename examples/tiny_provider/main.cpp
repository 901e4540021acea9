// A provider in a short header (tiny.hpp) with two kernels and an operator that ONNX does not have. The program writes
// a model that uses it, loads the file and runs it. Usage: example_tiny_provider [FILE]
#include "tiny.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>

#include <cmath>
#include <cstdio>

namespace {

using runtime = cameo::runtime<acme::tiny, cameo::eps::cpu>;  // nodes that tiny does not take run on cpu

cameo::value_id add_node(cameo::graph& g, std::string_view domain, std::string_view op, std::int64_t opset,
                         cameo::value_id input, std::string_view output) {
  const cameo::value_id made = g.add_value(output);
  cameo::node_spec node;
  node.name = output, node.domain = domain, node.op_type = op, node.opset = opset;
  node.inputs = {&input, 1}, node.outputs = {&made, 1};
  g.add_node(node);
  return made;
}

/// smooth = exp(-halve(signal)), for a signal with 2 channels of 8 samples.
cameo::status write_model(const std::string& path) {
  cameo::model m;
  m.ir_version = 10;
  m.imports = {{"", 17}, {acme::Halve::domain, 1}};
  cameo::graph& g = m.main();
  g.name = "smoother";
  const cameo::value_type* const channels =
      m.keep(cameo::value_type::tensor(cameo::dtype::f32, {cameo::dim::fixed(2), cameo::dim::fixed(8)}));
  const cameo::value_id signal = g.add_value("signal", channels);
  g.add_input(signal);
  const cameo::value_id halved = add_node(g, acme::Halve::domain, "Halve", 1, signal, "halved");
  const cameo::value_id negated = add_node(g, "", "Neg", 17, halved, "negated");
  const cameo::value_id smooth = add_node(g, "", "Exp", 17, negated, "smooth");
  g[smooth].type = m.keep(cameo::value_type::tensor(cameo::dtype::f32));
  g.add_output(smooth);
  if (cameo::status sorted = g.sort(); !sorted) return sorted;
  return cameo::write_onnx(m, path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "tiny_provider.onnx";
  if (const cameo::status written = write_model(path); !written) return cameo::report(written);
  auto session = runtime{}.load(path);
  if (!session) return cameo::report(session.error());
  for (const cameo::placement_info& node : session->placements())
    std::printf("%-8s %-6s %s\n", node.node.c_str(), node.op_type.c_str(), node.provider.c_str());
  std::printf("smooth: %s\n", session->outputs()[0].type_text.c_str());

  std::vector<float> samples(16);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = float(i) / 8;
  auto outputs = session->run({{"signal", cameo::any_value::tensor<float>({2, 8}, samples)}});
  if (!outputs) return cameo::report(outputs.error());
  const auto smooth = (*outputs)[0].value.as_unchecked<float>();
  for (std::int64_t i = 0; i < smooth.count(); ++i)
    if (std::abs(smooth[i] - std::exp(-(float(2 * i) + 0.5f) / 8)) > 1e-6f) return 1;
  return cameo::print(*outputs);
}
