#include <cameo/transform/rules/fusions.hpp>

#include "rule_rig.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A spelling of a layer normalization.
struct norm_spelling {
  std::int64_t opset = 17;
  bool by_product = false, two_centers = false, by_reciprocal = false, bias = true, scale_first = false;
  bool read_center = false, read_root = false, keep_last = true;
  std::vector<std::int64_t> axes{-1};
  extents scale_shape{8};
  bool scale = true;
};

struct norm_parts : model_builder {
  explicit norm_parts(std::int64_t opset) : model_builder{opset}, opset_{opset} {}
  std::int64_t opset_;
  int made = 0;
  value_id number(float f) { return constant<float>("c" + std::to_string(made++), {}, {f}); }
  value_id mean(value_id x, const norm_spelling& s) {
    if (opset_ < 18) return node("ReduceMean", {x}, {attribute_of("axes", s.axes), integer("keepdims", 1)});
    return node("ReduceMean", {x, constant<std::int64_t>("a" + std::to_string(made++), {1}, s.axes)});
  }
  value_id root(value_id square, const norm_spelling& s) {
    return node("Sqrt", {node("Add", {mean(square, s), number(1e-3f)})});
  }
  value_id layer_norm(value_id x, const norm_spelling& s = {}) {
    const value_id center = node("Sub", {x, mean(x, s)});
    const value_id other = s.two_centers ? node("Sub", {x, mean(x, s)}) : center;
    const value_id square = s.by_product ? node("Mul", {other, other}) : node("Pow", {other, number(2)});
    const value_id below = root(square, s);
    if (s.read_center) output(center);
    if (s.read_root) output(below);
    value_id y = s.by_reciprocal ? node("Mul", {center, node("Reciprocal", {below})}) : node("Div", {center, below});
    const value_id scale =
        constant<float>("s" + std::to_string(made++), s.scale_shape, ramp(std::size_t(s.scale_shape.count()), 0.002f));
    if (s.scale) y = node("Mul", s.scale_first ? std::vector{scale, y} : std::vector{y, scale});
    if (!s.bias) return y;
    return node("Add", {y, constant<float>("b" + std::to_string(made++), {8}, ramp(8))});
  }
  value_id rms_norm(value_id x, const norm_spelling& s = {}) {
    const value_id square = s.by_product ? node("Mul", {x, x}) : node("Pow", {x, number(2)});
    const value_id below = root(square, s);
    if (s.read_root) output(below);
    const value_id y = s.by_reciprocal ? node("Mul", {x, node("Reciprocal", {below})}) : node("Div", {x, below});
    if (!s.scale) return y;
    const value_id scale = constant<float>("s" + std::to_string(made++), {8}, ramp(8, 0.002f));
    return node("Mul", s.scale_first ? std::vector{scale, y} : std::vector{y, scale});
  }
  value_id hidden(std::string_view name) { return input(name, dtype::f32, {symbol("b"), symbol("s"), dim::fixed(8)}); }
};

auto layer_norm(const norm_spelling& s) {
  return [s] {
    norm_parts p{s.opset};
    p.output(p.layer_norm(p.hidden("x"), s));
    return p.take();
  };
}
auto rms_norm(const norm_spelling& s) {
  return [s] {
    norm_parts p{s.opset};
    p.output(p.rms_norm(p.hidden("x"), s));
    return p.take();
  };
}
template <class Make>
void fuses_norm(std::string_view transform, std::string_view op, Make make) {
  const session s = check_fires<rules::normalization_fusion>(transform, make);
  CHECK(count_of(s, op) == 1);
  CHECK(s.graph().main().order().size() == 1);
}

}  // namespace

TEST_CASE("layer normalization is found in every spelling and opset") {
  const auto norm = [](norm_spelling s) { fuses_norm("LayerNormFusion", "LayerNormalization", layer_norm(s)); };
  norm({});
  norm({.opset = 13});
  norm({.opset = 18});
  norm({.by_product = true});
  norm({.two_centers = true});
  norm({.by_product = true, .two_centers = true});
  norm({.by_reciprocal = true, .scale_first = true});
  norm({.bias = false});
  norm({.axes = {2}});
  norm({.scale = false});
  norm({.bias = false, .scale = false});
}

TEST_CASE("layer normalization is not fused when a part has other readers, or axis or scale differ") {
  const auto idle = [](norm_spelling s) { check_idle<rules::normalization_fusion>("LayerNormFusion", layer_norm(s)); };
  idle({.read_center = true});
  idle({.read_root = true});
  idle({.axes = {1}});
  idle({.axes = {-2}});
  check_idle<rules::normalization_fusion>("LayerNormFusion", [] {
    norm_parts p{17};
    const value_id x = p.input("x", dtype::i32, {dim::fixed(2), dim::fixed(8)});
    const value_id center =
        p.node("Sub", {x, p.node("ReduceMean", {x}, {attribute_of("axes", std::array{std::int64_t{-1}})})});
    p.output(p.node("Mul", {center, center}));
    return p.take();
  });
}

TEST_CASE("simplified layer normalization is found, and not fused when its root has other readers") {
  const auto norm = [](norm_spelling s) {
    fuses_norm("SimplifiedLayerNormFusion", "SimplifiedLayerNormalization", rms_norm(s));
  };
  norm({});
  norm({.opset = 13, .by_product = true});
  norm({.scale = false});
  norm({.opset = 18, .by_reciprocal = true, .scale_first = true});
  const auto idle = [](norm_spelling s) {
    check_idle<rules::normalization_fusion>("SimplifiedLayerNormFusion", rms_norm(s));
  };
  idle({.read_root = true});
  idle({.axes = {1}});
}

namespace {

struct sum_before {
  bool bias = false, bias_of_second = false, read_sum = false, read_bias_sum = false, simplified = false;
  std::int64_t rows = 0;  // rows of the skip; 0: as the input
  std::size_t rank = 3;
};
auto skip(const sum_before& s) {
  return [s] {
    norm_parts p{17};
    std::vector<dim> shape{p.symbol("b"), p.symbol("s"), dim::fixed(8)};
    if (s.rank == 2) shape.erase(shape.begin());
    value_id x = p.input("x", dtype::f32, shape);
    if (s.rows) shape[1] = dim::fixed(s.rows);
    value_id y = p.input("y", dtype::f32, shape);
    value_id& biased = s.bias_of_second ? y : x;
    if (s.bias) biased = p.node("Add", {biased, p.constant<float>("bias", {8}, ramp(8))});
    if (s.read_bias_sum) p.output(biased);
    const value_id sum = p.node("Add", {x, y});
    p.output(s.simplified ? p.rms_norm(sum) : p.layer_norm(sum));
    if (s.read_sum) p.output(p.node("Neg", {sum}));
    return p.take();
  };
}

}  // namespace

TEST_CASE("the sum before a normalization is fused with its bias, and becomes an output for its other readers") {
  for (bool simplified : {false, true}) {
    const std::string_view transform = simplified ? "SkipSimplifiedLayerNormFusion" : "SkipLayerNormFusion";
    const std::string_view op = simplified ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization";
    for (sum_before s : {sum_before{},
                         {.bias = true},
                         {.bias = true, .bias_of_second = true},
                         {.read_sum = true},
                         {.bias = true, .read_sum = true}}) {
      s.simplified = simplified;
      const session done = check_fires<rules::normalization_fusion>(transform, skip(s));
      CHECK(count_of(done, op) == 1);
      CHECK(count_of(done, "Add") == 0);
    }
    const session kept = check_fires<rules::normalization_fusion>(
        transform, skip({.bias = true, .read_bias_sum = true, .simplified = simplified}));
    CHECK(count_of(kept, "Add") == 1);
    check_idle<rules::normalization_fusion>(transform, skip({.simplified = simplified, .rows = 1}));
    check_idle<rules::normalization_fusion>(transform, skip({.simplified = simplified, .rank = 2}));
  }
}

TEST_CASE("a sum that is a graph output keeps its name") {
  const session s = check_fires<rules::normalization_fusion>("SkipLayerNormFusion", [] {
    norm_parts p{17};
    const value_id sum = p.node("Add", {p.hidden("x"), p.hidden("y")});
    p.output(sum);
    p.output(p.layer_norm(sum));
    return p.take();
  });
  CHECK(s.outputs()[0].name == "Add_0_out");
}
