// Runs a model with a compiling provider: part of the graph becomes loops, and the results equal those of cpu alone.
// The model is also compiled to a file, which is loaded and run without compiling again.
#include "fusing.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/session/compile.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace {

constexpr std::int64_t rows = 37, columns = 100;  // not a multiple of a block of elements

/// Two chains of arithmetic from x, one of which passes through a Sigmoid and is then added to the other. The
/// arithmetic cannot be a single group, because that would depend on its own output.
std::unique_ptr<cameo::model> make_model() {
  auto m = std::make_unique<cameo::model>();
  m->ir_version = 10;
  m->imports = {{"", 17}};
  cameo::graph& g = m->main();
  const cameo::value_type* const matrix =
      m->keep(cameo::value_type::tensor(cameo::dtype::f32, {cameo::dim::fixed(rows), cameo::dim::fixed(columns)}));
  std::vector<float> weights(rows * columns);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = float(i % 17) / 8 - 1;
  // The data of an initializer must live as long as the model, so it is in the model's memory.
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
  node("Sub", {"gated", "y"}, "centered");
  node("Mul", {"centered", "centered"}, "squared");
  node("Add", {"squared", "shifted"}, "sum");
  g.add_output(g.find("sum"));
  g.add_output(g.find("shifted"));
  return m;
}

using runtime = cameo::runtime<acme::fusing, cameo::eps::cpu>;

/// True if all outputs have the same bits.
bool same(const cameo::named_values& got, const cameo::named_values& want) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto a = got[i].value.as_unchecked<float>(), b = want[i].value.as_unchecked<float>();
    if (a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0) continue;
    std::printf("%s differs from cpu's\n", want[i].name.c_str());
    return false;
  }
  return true;
}

/// Compiles the model to a file, and loads the file without permission to compile.
cameo::result<cameo::session> load_compiled(const std::string& path) {
  cameo::compile_options options;
  options.input = make_model();
  options.output = path;
  const auto report = runtime{}.compile(std::move(options));
  if (!report) return cameo::status{report.error()};
  std::printf("%zu compiled nodes\n", report->compiled_nodes);
  cameo::session_options without_compiler;
  without_compiler.config = {{"session.disable_model_compile", "1"}};
  return runtime{}.load(path, without_compiler);
}

}  // namespace

int main() {
  const std::string folder = std::filesystem::temp_directory_path() / ("fusing_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  auto fused = runtime{}.load(make_model());
  auto plain = cameo::runtime<cameo::eps::cpu>{}.load(make_model());
  auto again = load_compiled(folder + "/model_ctx.onnx");
  std::filesystem::remove_all(folder);  // the mapped context remains valid
  for (const auto* each : {&fused, &plain, &again})
    if (!*each) return cameo::report(each->error());
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
  const auto run = [&](const cameo::session& s) { return s.run({{"x", xs}, {"y", ys}}); };
  const auto got = run(*fused), want = run(*plain), restored = run(*again);
  for (const auto* each : {&got, &want, &restored})
    if (!*each) return cameo::report(each->error());
  if (!same(*got, *want) || !same(*restored, *want)) return 1;
  std::printf("the same bits as cpu's, for %zu outputs, compiled now or before\n", want->size());
  return 0;
}
