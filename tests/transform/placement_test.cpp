// Rewrites keep the layer annotations (`layer_ann`) of nodes.
#include <cameo/transform/rules/fusions.hpp>

#include "rule_rig.hpp"

#include <map>

using namespace cameo;
using namespace cameo::test;

namespace {

using texts = std::map<std::string, std::string>;

void say(graph& g, std::string_view op, std::string_view text) {
  const detail::property said[] = {{"note", "kept"}, {"layer_ann", *g.owner().memory.copy(text)}};
  for (std::size_t i = 0; i < g.node_capacity(); ++i)
    if (g[node_id(i)].op_type == op)
      g[node_id(i)].metadata = *g.owner().memory.copy(std::span<const detail::property>{said});
}
std::string_view text_of(const detail::graph_node& n) {
  for (const auto& [key, text] : n.metadata)
    if (key == "layer_ann") return text;
  return {};
}

/// "Op=text" of each node after level basic, in order.
std::string after_basic(std::unique_ptr<model> m, const texts& said) {
  for (const auto& [op, text] : said) say(m->main(), op, text);
  session_options options;
  options.optimize = optimization_level::basic;
  const session s = loaded(std::move(m), options);
  std::string words;
  for (node_id n : s.graph().main().order()) {
    const detail::graph_node& node = s.graph().main()[n];
    words += (words.empty() ? "" : " ") + std::string{node.op_type} + "=" + std::string{text_of(node)};
  }
  return words;
}

/// relu(x w + b): the first two become one Gemm.
std::unique_ptr<model> product_and_sum() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(4), dim::fixed(8)});
  const value_id product = b.node("MatMul", {x, b.constant("w", {8, 8}, ramp(64))});
  b.output(b.node("Relu", {b.node("Add", {product, b.constant("b", {8}, ramp(8))})}));
  return b.take();
}

}  // namespace

TEST_CASE("a node that replaces others gets their annotation, if they share one") {
  CHECK(after_basic(product_and_sum(), {}) == "Gemm= Relu=");
  CHECK(after_basic(product_and_sum(), {{"MatMul", "enc"}, {"Add", "enc"}, {"Relu", "dec"}}) == "Gemm=enc Relu=dec");
  CHECK(after_basic(product_and_sum(), {{"MatMul", "enc"}}) == "Gemm=enc Relu=");
  CHECK(after_basic(product_and_sum(), {{"Add", "enc"}}) == "Gemm=enc Relu=");
  CHECK(after_basic(product_and_sum(), {{"MatMul", "enc"}, {"Add", "dec"}}) == "Gemm= Relu=");
}

TEST_CASE("two merged nodes have the annotation of either") {
  const auto twice = [](bool first, bool second) {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(4)});
    const value_id once = b.node("Tanh", {x}), again = b.node("Tanh", {x});
    b.output(b.node("Mul", {b.node("Neg", {once}), b.node("Abs", {again})}));
    auto m = b.take();
    const detail::property said[] = {{"layer_ann", "enc"}};
    std::size_t at = 0;
    for (std::size_t i = 0; i < m->main().node_capacity(); ++i)
      if (detail::graph_node& n = m->main()[node_id(i)]; n.op_type == "Tanh" && (at++ == 0 ? first : second))
        n.metadata = *m->memory.copy(std::span<const detail::property>{said});
    return m;
  };
  CHECK(after_basic(twice(false, false), {}) == "Tanh= Neg= Abs= Mul=");
  CHECK(after_basic(twice(true, false), {}) == "Tanh=enc Neg= Abs= Mul=");
  CHECK(after_basic(twice(false, true), {}) == "Tanh=enc Neg= Abs= Mul=");
}

TEST_CASE("a Transpose that moves behind other nodes gets their annotation") {
  const auto images = [] {
    model_builder b;
    const std::vector<std::int64_t> there{0, 2, 3, 1}, back{0, 3, 1, 2};
    const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(4), dim::fixed(5), dim::fixed(6)});
    const value_id y = b.node("Transpose", {x}, {attribute_of("perm", there)});
    const value_id a = b.node("Relu", {y}), c = b.node("Tanh", {a});
    b.output(b.node("Sigmoid", {b.node("Transpose", {c}, {attribute_of("perm", back)})}));
    b.output(c);
    return b.take();
  };
  CHECK(after_basic(images(), {{"Relu", "enc"}, {"Tanh", "enc"}}) == "Relu=enc Tanh=enc Sigmoid= Transpose=enc");
  CHECK(after_basic(images(), {{"Relu", "enc"}, {"Tanh", "dec"}, {"Transpose", "io"}}) ==
        "Relu=enc Tanh=dec Sigmoid= Transpose=");
}
