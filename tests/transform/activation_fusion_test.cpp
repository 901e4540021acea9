#include <cameo/transform/rules/fusions.hpp>

#include "rule_rig.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

struct after_conv {
  std::string_view op = "Relu";
  std::vector<attribute> attributes = {};
  std::vector<float> limits = {};  // inputs of Clip
  std::int64_t opset = 17;
  bool bias = true, read_conv = false, computed_limit = false;
  dtype type = dtype::f32;
};
auto conv_and_activation(const after_conv& c) {
  return [c] {
    model_builder b{c.opset};
    const value_id x = b.input("x", c.type, {b.symbol("n"), dim::fixed(3), dim::fixed(7), dim::fixed(6)});
    std::vector<value_id> in{x};
    if (c.type == dtype::f32) {
      in.push_back(b.constant<float>("w", {4, 3, 3, 3}, ramp(4 * 27, 0.002f)));
      if (c.bias) in.push_back(b.constant<float>("b", {4}, ramp(4, 0.001f)));
    } else {
      in.push_back(b.constant<double>("w", {4, 3, 3, 3}, std::vector<double>(4 * 27, 0.02)));
    }
    const value_id y = b.node("Conv", in, {attribute_of("strides", std::vector<std::int64_t>{2, 1})});
    if (c.read_conv) b.output(y);
    std::vector<value_id> f{y};
    for (float limit : c.limits) f.push_back(b.constant<float>("limit" + std::to_string(f.size()), {}, {limit}));
    if (c.computed_limit) f.push_back(b.node("ReduceMax", {x}, {model_builder::integer("keepdims", 0)}));
    b.output(b.node(c.op, f, c.attributes));
    return b.take();
  };
}

}  // namespace

TEST_CASE("activations are fused into the convolution before them") {
  for (const after_conv& c :
       {after_conv{},
        {.bias = false},
        {.op = "Sigmoid"},
        {.op = "Tanh"},
        {.op = "LeakyRelu"},
        {.op = "LeakyRelu", .attributes = {attribute_of("alpha", 0.3f)}},
        {.op = "HardSigmoid"},
        {.op = "HardSigmoid", .attributes = {attribute_of("alpha", 0.1f), attribute_of("beta", 0.3f)}},
        {.op = "Clip"},
        {.op = "Clip", .limits = {-0.05f}},
        {.op = "Clip", .limits = {0, 0.1f}},
        {.op = "Clip", .attributes = {attribute_of("max", 0.1f)}, .opset = 10}}) {
    CAPTURE(c.op);
    const session s = check_fires<rules::activation_fusion>("ConvActivationFusion", conv_and_activation(c));
    CHECK(count_of(s, "FusedConv") == 1);
    CHECK(s.graph().main().order().size() == 1);
  }
}

TEST_CASE("an activation stays when the convolution has other readers, or its limits or type forbid fusion") {
  const auto idle = [](const after_conv& c) {
    check_idle<rules::activation_fusion>("ConvActivationFusion", conv_and_activation(c));
  };
  idle({.read_conv = true});
  idle({.op = "Clip", .limits = {0}, .computed_limit = true});
  idle({.op = "Elu"});
  idle({.type = dtype::f64});
}

namespace {

struct residual {
  bool conv_first = true, read_sum = false, broadcast = false;
};
auto conv_and_residual(const residual& s) {
  return [s] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(3), dim::fixed(5), dim::fixed(5)});
    const value_id z = b.input(
        "z", dtype::f32, {s.broadcast ? dim::fixed(1) : b.symbol("n"), dim::fixed(4), dim::fixed(5), dim::fixed(5)});
    const value_id y = b.node("Conv", {x, b.constant<float>("w", {4, 3, 1, 1}, ramp(12))});
    const value_id added = b.node("Add", s.conv_first ? std::vector{y, z} : std::vector{z, y});
    if (s.read_sum) b.output(added);
    b.output(b.node("Relu", {added}));
    return b.take();
  };
}

}  // namespace

TEST_CASE("an addend of the convolution's shape is fused with the activation") {
  for (bool first : {true, false}) {
    const session s =
        check_fires<rules::activation_fusion>("ConvAddActivationFusion", conv_and_residual({.conv_first = first}));
    CHECK(s.graph().main().order().size() == 1);
  }
  check_idle<rules::activation_fusion>("ConvAddActivationFusion", conv_and_residual({.read_sum = true}));
  check_idle<rules::activation_fusion>("ConvAddActivationFusion", conv_and_residual({.broadcast = true}));
}

TEST_CASE("activations are fused into the product before them") {
  const auto gemm = [](std::string_view op, bool read = false, bool bias = true) {
    return [=] {
      model_builder b;
      const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(5)});
      std::vector<value_id> in{x, b.constant<float>("w", {6, 5}, ramp(30))};
      if (bias) in.push_back(b.constant<float>("c", {6}, ramp(6)));
      const value_id y = b.node("Gemm", in, {model_builder::integer("transB", 1), attribute_of("alpha", 0.5f)});
      if (read) b.output(y);
      b.output(b.node(op, {y}));
      return b.take();
    };
  };
  for (std::string_view op : {"Relu", "Sigmoid", "Tanh", "LeakyRelu"}) {
    const session s = check_fires<rules::activation_fusion>("GemmActivationFusion", gemm(op));
    CHECK(count_of(s, "FusedGemm") == 1);
    CHECK(s.graph().main().order().size() == 1);
  }
  check_fires<rules::activation_fusion>("GemmActivationFusion", gemm("Relu", false, false));
  check_idle<rules::activation_fusion>("GemmActivationFusion", gemm("Relu", true));
  check_idle<rules::activation_fusion>("GemmActivationFusion", gemm("Elu"));
}
