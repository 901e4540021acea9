// Every action that can be saved: chosen on a graph, written to a file, and applied on a graph and on a draft. Both
// must agree bit for bit with each other, and within one quantization step with the original model.
#include "ort_files.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/minimal/session.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/transform/transform.hpp>

#include "../session/models.hpp"
#include "onnx_messages.hpp"

#include <cmath>
#include <functional>
#include <numeric>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr float step = 0.05f;

/// A builder for models that contain quantization.
struct quantized_builder : model_builder {
  explicit quantized_builder(std::int64_t opset) : model_builder{opset} {}

  value_id x(std::vector<std::int64_t> shape) {
    std::vector<dim> dims;
    for (std::int64_t d : shape) dims.push_back(dim::fixed(d));
    return input("x" + std::to_string(inputs_++), dtype::f32, dims);
  }
  value_id quantize(value_id v, std::uint8_t zero = 128) {
    return node("QuantizeLinear", {v, scale(step), zeros(zero)});
  }
  value_id dequantize(value_id v, std::uint8_t zero = 128) {
    return node("DequantizeLinear", {v, scale(step), zeros(zero)});
  }
  value_id rounded(value_id v, std::uint8_t zero = 128) { return dequantize(quantize(v, zero), zero); }
  value_id weights(const extents& shape, std::int64_t channels = 0) {
    std::vector<std::int8_t> all(std::size_t(shape.count()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::int8_t(int(i * 37 % 101) - 50);
    const value_id integers = constant<std::int8_t>(name("w"), shape, all);
    if (!channels) return node("DequantizeLinear", {integers, scale(0.02f), constant<std::int8_t>(name("z"), {}, {0})});
    std::vector<float> scales(std::size_t(channels), 0.02f);
    for (std::size_t i = 0; i < scales.size(); ++i) scales[i] += 0.01f * float(i);
    return node("DequantizeLinear",
                {integers, constant<float>(name("s"), {channels}, scales),
                 constant<std::int8_t>(name("z"), {channels}, std::vector<std::int8_t>(scales.size(), 0))},
                {integer("axis", 0)});
  }
  value_id bias(std::int64_t count) {
    std::vector<std::int32_t> all(std::size_t(count), 300);
    return node("DequantizeLinear", {constant<std::int32_t>(name("b"), {count}, all), scale(0.02f * step),
                                     constant<std::int32_t>(name("z"), {}, {0})});
  }
  value_id scale(float s) { return constant<float>(name("s"), {}, {s}); }
  value_id zeros(std::uint8_t z) { return constant<std::uint8_t>(name("z"), {}, {z}); }
  value_id floats(const extents& shape) {
    std::vector<float> all(std::size_t(shape.count()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = float(int(i % 7) - 3) / 4;
    return constant<float>(name("c"), shape, all);
  }
  value_id numbers(std::vector<std::int64_t> all) {
    const auto count = std::int64_t(all.size());
    return constant<std::int64_t>(name("n"), {count}, std::move(all));
  }
  std::string name(const char* stem) { return stem + std::to_string(made_++); }

 private:
  std::size_t inputs_ = 0, made_ = 0;
};

attribute ints(std::string_view name, const std::vector<std::int64_t>& all) {
  return attribute_of(name, std::span<const std::int64_t>{all});
}

struct action_case {
  const char* action;
  const char* makes;  // empty: the node stays
  std::function<void(quantized_builder&)> build;
  std::int64_t opset = 13;
};

using maker = quantized_builder;
const std::vector<std::int64_t> square{2, 2};

/// This is one statement for each case: clang-format takes half a minute for a list of functions in braces.
std::vector<action_case> made_cases() {
  std::vector<action_case> all;
  all.push_back({"Conv", "QLinearConv", [](maker& b) {
                   b.output(
                       b.rounded(b.node("Conv", {b.rounded(b.x({1, 3, 5, 5})), b.weights({4, 3, 3, 3}), b.bias(4)})));
                 }});
  all.push_back({"Conv", "QLinearConv", [](maker& b) {
                   b.output(b.rounded(b.node("Conv", {b.rounded(b.x({1, 3, 5, 5})), b.weights({4, 3, 2, 2}, 4)},
                                             {ints("strides", square)})));
                 }});
  all.push_back({"MatMul", "QLinearMatMul",
                 [](maker& b) { b.output(b.rounded(b.node("MatMul", {b.rounded(b.x({2, 4})), b.weights({4, 5})}))); }});
  all.push_back({"Gemm", "QGemm", [](maker& b) {
                   b.output(b.rounded(b.node("Gemm", {b.rounded(b.x({2, 4})), b.weights({4, 5}), b.bias(5)})));
                 }});
  all.push_back({"Gemm", "QGemm", [](maker& b) {
                   b.output(b.node("Gemm", {b.rounded(b.x({2, 4})), b.weights({5, 4})},
                                   {maker::integer("transB", 1), attribute_of("alpha", 0.5f)}));
                 }});
  all.push_back({"Where", "QLinearWhere", [](maker& b) {
                   const value_id x = b.x({2, 4});
                   b.output(b.rounded(
                       b.node("Where", {b.node("Greater", {x, b.scale(0)}), b.rounded(x), b.rounded(b.x({2, 4}))})));
                 }});
  all.push_back({"2DQ", "QLinearAdd",
                 [](maker& b) { b.output(b.rounded(b.node("Add", {b.rounded(b.x({2, 4})), b.rounded(b.x({4}))}))); }});
  all.push_back({"2DQ", "QLinearMul",
                 [](maker& b) { b.output(b.rounded(b.node("Mul", {b.rounded(b.x({2, 4})), b.rounded(b.x({4}))}))); }});
  all.push_back({"2DQ", "QLinearAdd",  // with a Relu that changes nothing
                 [](maker& b) {
                   b.output(
                       b.rounded(b.node("Relu", {b.node("Add", {b.rounded(b.x({2, 4})), b.rounded(b.x({4}))})}), 0));
                 }});
  all.push_back(
      {"1DQ", "QLinearSigmoid", [](maker& b) { b.output(b.rounded(b.node("Sigmoid", {b.rounded(b.x({2, 4}))}))); }});
  all.push_back(
      {"1DQ", "QLinearAveragePool", [](maker& b) {
         b.output(b.rounded(b.node("AveragePool", {b.rounded(b.x({1, 2, 4, 4}))}, {ints("kernel_shape", square)})));
       }});
  all.push_back({"1DQ", "QLinearGlobalAveragePool",
                 [](maker& b) { b.output(b.rounded(b.node("GlobalAveragePool", {b.rounded(b.x({1, 2, 4, 4}))}))); }});
  all.push_back({"1DQ_CPU", "QLinearLeakyRelu", [](maker& b) {
                   b.output(b.rounded(b.node("LeakyRelu", {b.rounded(b.x({2, 4}))}, {attribute_of("alpha", 0.2f)})));
                 }});
  all.push_back({"1DQ_CPU", "QLinearSoftmax",
                 [](maker& b) { b.output(b.rounded(b.node("Softmax", {b.rounded(b.x({2, 3, 4}))}))); }});
  all.push_back({"1DQ_CPU", "QLinearSoftmax",
                 [](maker& b) { b.output(b.rounded(b.node("Softmax", {b.rounded(b.x({2, 3, 4}))}))); }, 12});
  all.push_back({"1DQ", "QLinearSigmoid",  // without zero points
                 [](maker& b) {
                   const value_id x = b.node("DequantizeLinear",
                                             {b.node("QuantizeLinear", {b.x({2, 4}), b.scale(step)}), b.scale(step)});
                   const value_id y = b.node("QuantizeLinear", {b.node("Sigmoid", {x}), b.scale(step)});
                   b.output(b.node("DequantizeLinear", {y, b.scale(step)}));
                 }});
  all.push_back(
      {"*DQ", "QLinearConcat", [](maker& b) {
         b.output(b.rounded(b.node("Concat", {b.rounded(b.x({2, 4})), b.rounded(b.x({2, 3})), b.rounded(b.x({2, 1}))},
                                   {maker::integer("axis", 1)})));
       }});
  all.push_back({"dropDQ", "",
                 [](maker& b) { b.output(b.node("ArgMax", {b.rounded(b.x({2, 4}))}, {maker::integer("axis", 1)})); }});
  all.push_back(
      {"drop", "", [](maker& b) { b.output(b.rounded(b.node("Tile", {b.rounded(b.x({2, 4})), b.numbers({1, 2})}))); }});
  all.push_back(
      {"drop_no_int16_support", "", [](maker& b) {
         b.output(b.rounded(b.node("DepthToSpace", {b.rounded(b.x({1, 4, 2, 2}))}, {maker::integer("blocksize", 2)})));
       }});
  all.push_back({"drop_no_int16_support_and_positive_scale", "", [](maker& b) {
                   b.output(
                       b.rounded(b.node("MaxPool", {b.rounded(b.x({1, 2, 4, 4}))}, {ints("kernel_shape", square)})));
                 }});
  all.push_back({"ConvAct", "FusedConv", [](maker& b) {
                   b.output(
                       b.node("Relu", {b.node("Conv", {b.x({1, 3, 5, 5}), b.floats({4, 3, 3, 3}), b.floats({4})})}));
                 }});
  all.push_back({"ConvAct", "FusedConv", [](maker& b) {
                   b.output(b.node("HardSigmoid", {b.node("Conv", {b.x({1, 3, 5, 5}), b.floats({4, 3, 3, 3})})},
                                   {attribute_of("beta", 0.3f), attribute_of("alpha", 0.1f)}));
                 }});
  all.push_back({"ConvAct", "FusedConv", [](maker& b) {
                   b.output(b.node("Clip", {b.node("Conv", {b.x({1, 3, 5, 5}), b.floats({4, 3, 3, 3})}), value_id::none,
                                            b.scale(1)}));
                 }});
  return all;
}

/// Increasing values for all inputs.
std::vector<std::vector<float>> feeds(const std::vector<io_info>& inputs) {
  std::vector<std::vector<float>> all;
  for (const io_info& i : inputs) {
    const extents shape = *i.type.fixed_shape();
    std::vector<float>& x = all.emplace_back(std::size_t(shape.count()));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = float((k * 13 + all.size() * 5) % 41) / 20 - 1;
  }
  return all;
}

/// All elements of all outputs as numbers, one after the other.
template <class Values>
std::vector<double> numbers_of(const Values& outputs) {
  std::vector<double> all;
  for (const value& v : outputs) {
    if (v.type == dtype::f32)
      for (float f : v.template as_unchecked<float>()) all.push_back(f);
    else
      for (std::int64_t n : v.template as_unchecked<std::int64_t>()) all.push_back(double(n));
  }
  return all;
}

std::vector<double> run_on_feeds(const session& s) {
  const auto given = feeds(s.inputs());
  std::vector<named_input> in;
  for (std::size_t i = 0; i < given.size(); ++i)
    in.push_back({s.inputs()[i].name, given[i].data(), *s.inputs()[i].type.fixed_shape()});
  const auto out = s.run(in);
  REQUIRE_MESSAGE(out, out.error().words());
  std::vector<value> values;
  for (const auto& each : out->items) values.push_back(each.value.view());
  return numbers_of(values);
}

std::vector<double> run_on_feeds(minimal_session& s, const std::vector<io_info>& inputs) {
  auto given = feeds(inputs);
  std::vector<value> in, out(s.output_count());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t at = s.find_input(inputs[i].name);
    REQUIRE(at == i);
    in.push_back(value::tensor(dtype::f32, *inputs[i].type.fixed_shape(), given[i].data()));
  }
  const status done = s.run(in, out);
  REQUIRE_MESSAGE(done, done.words());
  return numbers_of(out);
}

void check(const action_case& each, const scratch_folder& folder) {
  CAPTURE(each.action);
  CAPTURE(each.makes);
  quantized_builder b{each.opset};
  each.build(b);
  const std::string path = folder / "saved.ort";
  session_options saving;
  saving.optimize = optimization_level::extended;
  saving.config = {{"optimization.minimal_build_optimizations", "save"},
                   {"session.optimized_model_filepath", path},
                   {"optimization.disable_specified_optimizers",
                    "QDQPropagationTransformer,DoubleQDQPairsRemover,ReluQuantRewrite,ClipQuantRewrite"}};
  const auto saved = runtime<eps::cpu>{}.load(b.take(), saving);
  REQUIRE_MESSAGE(saved, saved.error().words());
  const std::vector<std::byte> file = bytes_of_file(path);  // the graph reads its names from these bytes
  const auto net = read_and_check(file);
  REQUIRE(net->main().saved_optimizations.size() == 1);
  const detail::saved_optimization& record = net->main().saved_optimizations[0];
  CHECK(record.action == each.action);
  CHECK(record.produces.size() == std::size_t(*each.makes != 0));

  session_options replaying;
  replaying.optimize = optimization_level::extended;
  replaying.config = {{"session.enable_saved_runtime_optimizations", "1"},
                      {"optimization.disable_specified_optimizers", saving.config[2].second}};
  const auto graph = runtime<eps::cpu>{}.load(path, replaying);
  REQUIRE_MESSAGE(graph, graph.error().words());
  std::size_t made = 0;
  const auto placements = graph->placements();
  for (const placement_info& p : placements) made += p.op_type == each.makes;
  CHECK(made == record.produces.size());
  CHECK(placements.size() < net->main().order().size());

  std::vector<std::byte> memory(1 << 18);
  detail::heap_arena tables;
  const detail::kernel_table* const lists[] = {&eps::cpu_kernels::table};
  const auto draft = read_ort_draft(file, lists, tables, &replaying_ort_draft_checks);
  REQUIRE_MESSAGE(draft, draft.error().words());
  CHECK((*draft)->nodes.size() == placements.size());
  auto small = minimal_runtime<saved_optimizations, eps::cpu_kernels>::load(file, memory);
  REQUIRE_MESSAGE(small, small.error().words());

  const std::vector<double> want = run_on_feeds(*saved), got = run_on_feeds(*graph);
  REQUIRE(want.size() == got.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::abs(want[i] - got[i]) <= 1.01 * step);
  CHECK(run_on_feeds(*small, graph->inputs()) == got);
}

}  // namespace

TEST_CASE("every action is saved, and applied with equal results on a graph and without one") {
  const scratch_folder folder;
  for (const action_case& each : made_cases()) check(each, folder);
}

TEST_CASE("the outputs of a split have the quantization of its input, and the split works on integers") {
  const scratch_folder folder;
  check({"dropSplitQDQ", "Split",
         [](maker& b) {
           graph& g = b.main();
           const value_id x = b.rounded(b.x({2, 6})), parts = b.numbers({2, 4});
           const value_id first = g.add_value("first"), second = g.add_value("second");
           const std::vector<value_id> in{x, parts}, out{first, second};
           const attribute axis = maker::integer("axis", 1);
           g.add_node({"split", "", "Split", {}, {}, 13, in, out, {&axis, 1}});
           for (value_id part : out) b.output(b.rounded(part));
         }},
        folder);
}
