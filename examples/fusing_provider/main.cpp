// A compiling provider at work: a small graph is cut into loops and the rest, and gives what cpu alone gives.
#include "fusing.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <cstdio>
#include <cstring>

namespace {

constexpr std::int64_t rows = 37, columns = 100;  // no multiple of a block

/// x -> two chains of arithmetic, one of which passes through a Sigmoid and joins the other again: whoever took all
/// the arithmetic in one piece would wait for himself.
std::unique_ptr<cameo::model> make_model() {
  auto m = std::make_unique<cameo::model>();
  m->ir_version = 10;
  m->imports = {{"", 17}};
  cameo::graph& g = m->main();
  const cameo::value_type* const matrix =
      m->keep(cameo::value_type::tensor(cameo::dtype::f32, {cameo::dim::of(rows), cameo::dim::of(columns)}));
  std::vector<float> weights(rows * columns);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = float(i % 17) / 8 - 1;
  // What an initializer refers to lives as long as the model: in its memory.
  const auto elements = m->memory.copy(std::span<const float>{weights});
  const cameo::value w = cameo::value::tensor<float>({rows, columns}, *elements);
  const auto kept = m->memory.copy(std::span{&w, 1});
  for (const char* name : {"x", "y"}) {
    const cameo::value_id v = g.add_value(name, matrix);
    g.add_input(v);
  }
  g.add_initializer(g.add_value("w", matrix), kept->data());
  const auto node = [&](const char* op, std::initializer_list<const char*> from, const char* to) {
    std::vector<cameo::value_id> inputs;
    for (const char* name : from) inputs.push_back(g.find(name));
    const cameo::value_id out = g.add_value(to);
    cameo::node_spec spec;
    spec.name = to, spec.op_type = op, spec.opset = 17, spec.inputs = inputs, spec.outputs = {&out, 1};
    g.add_node(spec);
  };
  node("Mul", {"x", "w"}, "scaled");
  node("Add", {"scaled", "y"}, "shifted");
  node("Relu", {"shifted"}, "positive");
  node("Sigmoid", {"positive"}, "gate");
  node("Mul", {"gate", "positive"}, "gated");
  node("Sub", {"gated", "y"}, "centred");
  node("Mul", {"centred", "centred"}, "squared");
  node("Add", {"squared", "shifted"}, "sum");
  g.add_output(g.find("sum"));
  g.add_output(g.find("shifted"));
  return m;
}

}  // namespace

int main() {
  auto fused = cameo::runtime<acme::fusing, cameo::eps::cpu>{}.load(make_model());
  auto plain = cameo::runtime<cameo::eps::cpu>{}.load(make_model());
  if (!fused) return cameo::report(fused.error());
  if (!plain) return cameo::report(plain.error());
  for (const cameo::placement_info& node : fused->placements())
    std::printf("%-32s %-8s %s\n", node.node.c_str(), node.provider.c_str(),
                (node.fused_from.empty() ? node.op_type : node.fused_from).c_str());
  std::printf("%zu steps instead of %zu\n", fused->step_count(), plain->step_count());

  std::vector<float> x(rows * columns), y(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 29) / 10 - 1, y[i] = float(i % 31) / 20;
  const auto shaped = [](const std::vector<float>& from) {
    return cameo::any_value::tensor<float>({rows, columns}, from);
  };
  const cameo::any_value xs = shaped(x), ys = shaped(y);
  auto got = fused->run({{"x", xs}, {"y", ys}}), want = plain->run({{"x", xs}, {"y", ys}});
  if (!got) return cameo::report(got.error());
  if (!want) return cameo::report(want.error());
  for (std::size_t i = 0; i < want->size(); ++i) {
    const auto a = (*got)[i].value.as<float>(), b = (*want)[i].value.as<float>();
    if (a.shape() != b.shape() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) != 0) {
      std::printf("%s differs from cpu's\n", (*want)[i].name.c_str());
      return 1;
    }
  }
  std::printf("the same bits as cpu's, for %zu outputs\n", want->size());
  return 0;
}
