#include <cameo/transform/rules/fusions.hpp>

#include "rule_rig.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// The parts of a Gelu, for different combinations.
struct gelu_parts : model_builder {
  const dtype type;
  value_id x = input("x", type, {symbol("n"), dim::fixed(8)});
  int made = 0;
  explicit gelu_parts(dtype t) : type{t} {}
  value_id number(float f, const extents& shape = {}) {
    if (type == dtype::f64) return constant<double>("c" + std::to_string(made++), shape, {double(f)});
    return constant<float>("c" + std::to_string(made++), shape, {f});
  }
  value_id mul(value_id a, value_id b) { return node("Mul", {a, b}); }
  value_id add(value_id a, value_id b) { return node("Add", {a, b}); }
  value_id one_plus(value_id f) { return add(f, number(1)); }
  value_id erf() { return node("Erf", {node("Div", {x, number(1.41421356f)})}); }
  value_id erf_by_factor() { return node("Erf", {mul(number(0.70710678f), x)}); }
};
template <class Build>
auto gelu_of(Build build, dtype type = dtype::f32) {
  return [build, type] {
    gelu_parts g{type};
    g.output(build(g));
    return g.take();
  };
}
template <class Build>
void fuses_gelu(std::string_view transform, std::string_view op, Build build) {
  const session s = check_fires<rules::gelu_fusion>(transform, gelu_of(build), 1e-5);
  CHECK(count_of(s, op) == 1);
  CHECK(s.graph().main().order().size() == 1);
}
template <class Build>
void leaves_gelu(std::string_view transform, Build build, dtype type = dtype::f32) {
  check_idle<rules::gelu_fusion>(transform, gelu_of(build, type));
}
using parts = gelu_parts;

}  // namespace

TEST_CASE("Gelu is found in every order of its factors") {
  const auto gelu = [](auto build) { fuses_gelu("GeluFusion", "Gelu", build); };
  gelu([](parts& g) { return g.mul(g.mul(g.x, g.number(0.5f)), g.one_plus(g.erf())); });
  gelu([](parts& g) { return g.mul(g.mul(g.number(0.5f), g.x), g.one_plus(g.erf_by_factor())); });
  gelu([](parts& g) { return g.mul(g.mul(g.x, g.one_plus(g.erf())), g.number(0.5f, {1})); });
  gelu([](parts& g) { return g.mul(g.number(0.5f), g.mul(g.one_plus(g.erf()), g.x)); });
  gelu([](parts& g) { return g.mul(g.x, g.mul(g.one_plus(g.erf()), g.number(0.5f))); });
  gelu([](parts& g) { return g.mul(g.add(g.number(1), g.erf()), g.mul(g.x, g.number(0.5f))); });
  gelu([](parts& g) { return g.node("Div", {g.mul(g.x, g.one_plus(g.erf())), g.number(2)}); });
}

TEST_CASE("Gelu is not fused when a part has other readers, or a number, type or rank differs") {
  const auto gelu = [](auto build) { leaves_gelu("GeluFusion", build); };
  gelu([](parts& g) {
    const value_id erf = g.erf();
    g.output(erf);
    return g.mul(g.mul(g.x, g.number(0.5f)), g.one_plus(erf));
  });
  gelu([](parts& g) {
    const value_id half = g.mul(g.x, g.number(0.5f));
    return g.add(g.mul(half, g.one_plus(g.erf())), half);
  });
  gelu([](parts& g) { return g.mul(g.mul(g.x, g.number(0.6f)), g.one_plus(g.erf())); });
  gelu([](parts& g) { return g.mul(g.mul(g.x, g.number(0.5f)), g.add(g.erf(), g.number(1.1f))); });
  gelu([](parts& g) { return g.mul(g.mul(g.x, g.number(0.5f, {1, 1, 1})), g.one_plus(g.erf())); });
  gelu([](parts& g) {
    const value_id other = g.node("Neg", {g.x});
    return g.mul(g.mul(other, g.number(0.5f)), g.one_plus(g.erf()));
  });
  leaves_gelu(
      "GeluFusion", [](parts& g) { return g.mul(g.mul(g.x, g.number(0.5f)), g.one_plus(g.erf())); }, dtype::f64);
}

TEST_CASE("FastGelu is found with powers, with products and with x factored out") {
  const auto fast = [](auto build) { fuses_gelu("FastGeluFusion", "FastGelu", build); };
  const auto outer = [](parts& g, value_id inner) {
    return g.mul(g.mul(g.x, g.number(0.5f)), g.one_plus(g.node("Tanh", {inner})));
  };
  fast([=](parts& g) {
    const value_id cube = g.mul(g.node("Pow", {g.x, g.number(3)}), g.number(0.044715f));
    return outer(g, g.mul(g.add(g.x, cube), g.number(0.79788456f)));
  });
  fast([=](parts& g) {
    const value_id cube = g.mul(g.number(0.044715f), g.mul(g.mul(g.x, g.x), g.x));
    return outer(g, g.mul(g.number(0.79788456f), g.add(cube, g.x)));
  });
  fast([=](parts& g) {
    const value_id square = g.mul(g.mul(g.x, g.number(0.044715f)), g.x);
    return outer(g, g.mul(g.mul(g.x, g.number(0.79788456f)), g.add(square, g.number(1))));
  });
  const auto left_alone = [](auto build) { leaves_gelu("FastGeluFusion", build); };
  left_alone([=](parts& g) {
    const value_id square = g.mul(g.node("Pow", {g.x, g.number(2)}), g.number(0.044715f));
    return outer(g, g.mul(g.add(g.x, square), g.number(0.79788456f)));
  });
  left_alone([=](parts& g) {
    const value_id cube = g.mul(g.node("Pow", {g.x, g.number(3)}), g.number(0.044715f));
    g.output(cube);
    const value_id sum = g.add(g.x, cube);
    g.output(sum);
    return outer(g, g.mul(sum, g.number(0.79788456f)));
  });
}

TEST_CASE("QuickGelu keeps its factor") {
  const auto quick = [](auto build) { fuses_gelu("QuickGeluFusion", "QuickGelu", build); };
  quick([](parts& g) { return g.mul(g.x, g.node("Sigmoid", {g.mul(g.x, g.number(1.702f))})); });
  quick([](parts& g) { return g.mul(g.node("Sigmoid", {g.mul(g.number(-0.5f), g.x)}), g.x); });
  quick([](parts& g) { return g.mul(g.x, g.node("Sigmoid", {g.x})); });
  leaves_gelu("QuickGeluFusion", [](parts& g) {
    const value_id gate = g.node("Sigmoid", {g.x});
    g.output(gate);
    return g.mul(g.x, gate);
  });
  leaves_gelu("QuickGeluFusion", [](parts& g) { return g.mul(g.node("Neg", {g.x}), g.node("Sigmoid", {g.x})); });
}

namespace {

auto biased(std::string_view op, extents shape, bool other_reader = false, bool first = true) {
  return [=] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(8)});
    const value_id bias = b.constant<float>("b", shape, ramp(std::size_t(shape.count())));
    const value_id sum = b.node("Add", first ? std::vector{bias, x} : std::vector{x, bias});
    if (other_reader) b.output(sum);
    b.output(b.node(op, {sum}, {}, "com.microsoft", 1));
    b.whole().imports.push_back({"com.microsoft", 1});
    return b.take();
  };
}

}  // namespace

TEST_CASE("a bias vector is fused into Gelu and FastGelu, other addends are not") {
  CHECK(count_of(check_fires<rules::gelu_fusion>("BiasGeluFusion", biased("Gelu", {8})), "BiasGelu") == 1);
  CHECK(count_of(check_fires<rules::gelu_fusion>("BiasGeluFusion", biased("Gelu", {8}, false, false)), "Add") == 0);
  CHECK(count_of(check_fires<rules::gelu_fusion>("BiasGeluFusion", biased("FastGelu", {8})), "Add") == 0);
  check_idle<rules::gelu_fusion>("BiasGeluFusion", biased("Gelu", {1}));
  check_idle<rules::gelu_fusion>("BiasGeluFusion", biased("Gelu", {1, 8}));
  check_idle<rules::gelu_fusion>("BiasGeluFusion", biased("Gelu", {8}, true));
}
