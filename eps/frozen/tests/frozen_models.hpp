#pragma once
// Models whose plans have everything that a container can hold, and runtimes to compile and load them with.
#include <cameo/eps/frozen.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/session/compile.hpp>

#include "context/compiled.hpp"
#include "reseal.hpp"

#include <deque>

namespace cameo::test {

using frozen_cpu = eps::frozen<eps::cpu>;
using frozen_runtime = runtime<frozen_cpu, eps::cpu>;

/// Convolutions with weights packed in blocks and in rows, a product, its bias, and a reshape by a constant.
inline std::unique_ptr<model> small_network() {
  model_builder b;
  const auto ints = [](std::string_view name, std::span<const std::int64_t> all) {
    attribute a;
    a.name = name, a.kind = attribute_kind::ints, a.ints = all;
    return a;
  };
  static constexpr std::int64_t pads[] = {1, 1, 1, 1};
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(3), dim::fixed(8), dim::fixed(8)});
  const value_id w1 = b.constant("w1", {32, 3, 3, 3}, ramp(32 * 27, 0.0005f));
  const value_id b1 = b.constant("b1", {32}, ramp(32, 0.0001f));
  const value_id w2 = b.constant("w2", {16, 32, 1, 1}, ramp(16 * 32, 0.0003f));
  value_id y = b.node("Relu", {b.node("Conv", {x, w1, b1}, {ints("pads", pads)})});
  y = b.node("Conv", {y, w2});
  y = b.node("GlobalAveragePool", {y});
  y = b.node("Reshape", {y, b.constant<std::int64_t>("shape", {2}, {1, 16})});
  y = b.node("Gemm", {y, b.constant("w3", {16, 10}, ramp(160, 0.001f)), b.constant("b3", {10}, ramp(10, 0.001f))});
  b.output(b.node("Softmax", {y}, {model_builder::integer("axis", -1)}));
  return b.take();
}

/// The input of small_network().
inline const std::vector<float>& image() {
  static const std::vector<float> all = ramp(3 * 64, 0.002f);
  return all;
}

/// Products of inputs with a dynamic number of rows; models with another operator `more` at the end share the two
/// weights.
inline std::unique_ptr<model> over_shared_weights(const std::string& more) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(64)});
  const value_id w = b.constant("w", {64, 512}, ramp(64 * 512, 0.001f));
  const value_id v = b.constant("v", {512, 64}, ramp(512 * 64, 0.0007f));
  value_id y = b.node("MatMul", {b.node("Tanh", {b.node("MatMul", {x, w})}), v});
  y = b.node(more, {y});
  b.output(y);
  return b.take();
}

/// Values that a container cannot hold, strings and a sequence, between products that it can.
inline std::unique_ptr<model> texts_and_sequences() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(2)});
  const value_id w = b.constant("w", {2, 4}, ramp(8));
  const value_id parts =
      b.node("SplitToSequence", {b.node("MatMul", {x, w}), b.constant<std::int64_t>("one", {}, {1})});
  const value_id joined = b.node("ConcatFromSequence", {parts}, {model_builder::integer("axis", 0)});
  b.output(b.node("MatMul", {joined, b.constant("v", {4, 3}, ramp(12))}));
  const value_id t = b.input("t", dtype::string, {dim::fixed(3)});
  b.output(b.node("Identity", {t}));
  return b.take();
}

/// Operators with many kinds of attributes and inputs, each with a small input.
inline std::unique_ptr<model> many_operators() {
  model_builder b;
  const auto ints = [](std::string_view name, std::vector<std::int64_t> all) {
    static std::deque<std::vector<std::int64_t>> kept;  // until the model has copied them
    attribute a;
    a.name = name, a.kind = attribute_kind::ints, a.ints = kept.emplace_back(std::move(all));
    return a;
  };
  const auto real = [](std::string_view name, float f) {
    attribute a;
    a.name = name, a.kind = attribute_kind::f, a.f = f;
    return a;
  };
  const auto text = [](std::string_view name, std::string_view words) {
    attribute a;
    a.name = name, a.kind = attribute_kind::s, a.s = words;
    return a;
  };
  auto i64 = [&, n = 0](std::vector<std::int64_t> all) mutable {
    return b.constant<std::int64_t>("i" + std::to_string(n++), {std::int64_t(all.size())}, all);
  };
  const auto integer = model_builder::integer;
  const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(4), dim::fixed(6)});
  const value_id scale = b.constant("scale", {6}, ramp(6)), bias = b.constant("bias", {6}, ramp(6, 0.002f));
  const value_id y = b.node("LayerNormalization", {x, scale, bias}, {integer("axis", -1), real("epsilon", 1e-3f)});
  b.output(b.node("Slice", {y, i64({1}), i64({5}), i64({2})}));
  b.output(b.node("Gather", {y, i64({3, -1})}, {integer("axis", 1)}));
  b.output(b.node("Transpose", {y}, {ints("perm", {2, 0, 1})}));
  b.output(b.node("Pad", {x, i64({0, 1, 0, 0, 0, 2})}, {text("mode", "reflect")}));
  b.output(b.node("ReduceMean", {x}, {ints("axes", {1}), integer("keepdims", 0)}));
  b.output(b.node("Concat", {x, y}, {integer("axis", 2)}));
  b.output(b.node("Cast", {b.node("LeakyRelu", {x}, {real("alpha", 0.3f)})}, {integer("to", 7)}));
  b.output(b.node("Expand", {b.node("Shape", {x}), i64({2, 3})}));
  b.output(b.node("CumSum", {x, b.constant<std::int64_t>("axis", {}, {1})}));
  b.output(b.node("Einsum", {x, y}, {text("equation", "nij,nkj->nik")}));
  b.output(b.node("ArgMax", {x}, {integer("axis", 1)}));
  return b.take();
}

/// A loop whose body multiplies with a weight of the body and with one of the outer graph; the product of each
/// iteration is a scan output. `trips` is the trip count.
inline std::unique_ptr<model> product_in_a_loop() {
  model_builder b;
  model& m = b.whole();
  const value_id trips = b.input("trips", dtype::i64, {}),
                 x = b.input("x", dtype::f32, {dim::fixed(8), dim::fixed(16)});
  graph& body = m.add_graph(&b.main());
  body.name = "body";
  const auto body_input = [&](std::string_view name, dtype type, std::vector<dim> shape) {
    const value_id v = body.add_value(name, m.keep(value_type::tensor(type, std::move(shape))));
    body.add_input(v);
    return v;
  };
  static_cast<void>(body_input("i", dtype::i64, {}));
  const value_id condition = body_input("condition", dtype::boolean, {});
  const value_id now = body_input("now", dtype::f32, {dim::fixed(8), dim::fixed(16)});
  const value_id w = body.capture_of(b.constant("w", {16, 16}, ramp(256, 0.0005f)));
  const value_id product = body.add_value("product"), next = body.add_value("next"), same = body.add_value("same");
  body.add_node({"multiply", "", "MatMul", {}, {}, 17, std::vector{now, w}, std::vector{product}});
  body.add_node({"soften", "", "Tanh", {}, {}, 17, std::vector{product}, std::vector{next}});
  body.add_node({"same", "", "Identity", {}, {}, 17, std::vector{condition}, std::vector{same}});
  body.add_output(same), body.add_output(next), body.add_output(product);
  attribute holds;
  holds.name = "body", holds.kind = attribute_kind::g, holds.i = 0;
  const value_id last = b.main().add_value("last"), all = b.main().add_value("all");
  graph* const graphs[] = {&body};
  const value_id on = b.constant<bool>("on", {}, {true});
  b.main().add_node(
      {"loop", "", "Loop", {}, {}, 17, std::vector{trips, on, x}, std::vector{last, all}, std::vector{holds}, graphs});
  b.output(last), b.output(all);
  return b.take();
}

/// The paths of a compiled model and its context, in a temporary folder.
struct compiled_files {
  scratch_folder folder;
  std::string model = folder / "m_ctx.onnx", context = folder / "m_ctx_FrozenExecutionProvider.bin";
};
inline void compile(const compiled_files& to, std::unique_ptr<cameo::model> m, bool embed = false) {
  compile_options options;
  options.input = std::move(m);
  options.output = to.model;
  options.embed = embed;
  options.session.config = {{"ep.context_file_path", to.model}};
  const auto report = frozen_runtime{}.compile(std::move(options));
  REQUIRE(verdict(report) == "OK");
  REQUIRE(report->compiled_nodes > 0);
}

/// The bytes of all outputs, one after the other.
inline std::string bits_of(const session& s, std::span<const named_input> inputs) {
  const auto outputs = s.run(inputs);
  REQUIRE(verdict(outputs) == "OK");
  std::string all;
  for (const auto& each : outputs->items) {
    const value& v = each.value;
    if (v.type == dtype::string)
      for (std::string_view t : v.as_unchecked<std::string_view>()) all += std::string{t} + '\0';
    else all.append(static_cast<const char*>(v.data), v.bytes());
  }
  return all;
}

inline bool says(std::string_view verdict, std::string_view words) { return verdict.find(words) != verdict.npos; }

inline std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span{text.data(), text.size()});
}

}  // namespace cameo::test
