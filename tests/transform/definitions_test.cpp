#include <cameo/transform/rules/definitions.hpp>

#include "rule_rig.hpp"

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Two inputs of 2 x 6 x 5 (float) and 2 x 5 (classes or sizes), and the nodes that `fill` adds.
template <class Fill>
auto with_inputs(std::int64_t opset, dtype second, std::vector<dim> second_shape, Fill fill) {
  return [=] {
    model_builder b{opset};
    const value_id x = b.input("x", dtype::f32, {b.symbol("batch"), dim::fixed(6), dim::fixed(5)});
    b.output(fill(b, x, b.input("second", second, second_shape)));
    return b.take();
  };
}

/// One node with the input x.
auto one_node(std::string_view op, std::int64_t opset, std::vector<attribute> attributes = {}) {
  return [=] {
    model_builder b{opset};
    b.output(b.node(op, {b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(4)})}, attributes));
    return b.take();
  };
}

/// Classes from 0 to 3 for scores [batch, 6, 5]; weights for six classes if `weighted`.
auto loss(std::string_view op, std::int64_t opset, std::string_view reduction, bool weighted, bool ignores,
          dtype index = dtype::i64) {
  return [=] {
    model_builder b{opset};
    const dim batch = b.symbol("batch");
    std::vector<value_id> inputs{b.input("x", dtype::f32, {batch, dim::fixed(6), dim::fixed(5)}),
                                 b.input("classes", index, {batch, dim::fixed(5)})};
    if (weighted) inputs.push_back(b.constant<float>("weights", {6}, {0.5f, 2, 1, 0.25f, 3, 1}));
    std::vector<attribute> attributes{attribute_of("reduction", reduction)};
    if (ignores) attributes.push_back(attribute_of("ignore_index", 2));
    b.output(b.node(op, inputs, attributes));
    return b.take();
  };
}

std::unique_ptr<model> group_norm() {
  model_builder b{21};
  const value_id x = b.input("x", dtype::f32, {b.symbol("batch"), dim::fixed(4), dim::fixed(3), b.symbol("width")});
  const value_id scale = b.constant<float>("scale", {4}, {2, -1, 0.5f, 3}),
                 bias = b.constant<float>("bias", {4}, {1, 2, -3, 0});
  b.output(b.node("GroupNormalization", {x, scale, bias}, {attribute_of("num_groups", 2)}));
  return b.take();
}

/// Slices of x, each minus another input, joined again.
std::unique_ptr<model> mapped() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(4)}),
                 y = b.input("y", dtype::f32, {dim::fixed(4)});
  const value_id slices = b.node("SplitToSequence", {x}, {attribute_of("axis", 0), attribute_of("keepdims", 0)});
  graph& body = b.whole().add_graph(&b.main());
  const value_type* const row = b.whole().keep(value_type::tensor(dtype::f32, {dim::fixed(4)}));
  std::vector<value_id> in{body.add_value("slice", row), body.add_value("other", row)};
  for (value_id v : in) body.add_input(v);
  const value_id less = body.add_value("less"), out = body.add_value("out");
  body.add_node({"sub", "", "Sub", {}, {}, 17, in, {&less, 1}});
  const std::vector<value_id> pair{less, body.capture_of(y)};
  body.add_node({"mul", "", "Mul", {}, {}, 17, pair, {&out, 1}});
  body.add_output(out);
  attribute on{"body", attribute_kind::g};
  graph* const bodies[] = {&body};
  const value_id made = b.main().add_value("mapped");
  b.main().add_node(
      {"map", "", "SequenceMap", {}, {}, 17, std::vector<value_id>{slices, y}, {&made, 1}, {&on, 1}, bodies});
  b.output(b.node("ConcatFromSequence", {made}, {attribute_of("axis", 0), attribute_of("new_axis", 1)}));
  return b.take();
}

/// Checks that the operator was replaced by its definition, and that the outputs agree.
template <class Make>
session defined(std::string_view op, Make make, double tolerance = 1e-5) {
  session done = check_fires<rules::definitions>(std::string{op} + "Definition", make, tolerance);
  CHECK(count_of(done, op) == 0);
  return done;
}

}  // namespace

TEST_CASE("activations are replaced by ONNX's definitions") {
  defined("HardSwish", one_node("HardSwish", 14));
  defined("Mish", one_node("Mish", 18));
  CHECK(count_of(defined("Swish", one_node("Swish", 24)), "Mul") == 1);
  CHECK(count_of(defined("Swish", one_node("Swish", 24, {attribute_of("alpha", 1.5f)})), "Mul") == 2);
  const auto gated = with_inputs(28, dtype::f32, {dim::fixed(5)}, [](model_builder& b, value_id x, value_id y) {
    return b.node("SwiGLU", {x, b.node("Add", {x, y})}, {attribute_of("alpha", 0.5f)});
  });
  CHECK(count_of(defined("SwiGLU", gated), "Swish") == 0);
}

TEST_CASE("CastLike is Cast to the type of its second input") {
  const auto like = [](dtype type) {
    return with_inputs(19, type, {dim::fixed(1)},
                       [](model_builder& b, value_id x, value_id y) { return b.node("CastLike", {x, y}); });
  };
  for (dtype type : {dtype::i32, dtype::f64, dtype::u8}) {
    const session done = defined("CastLike", like(type));
    CHECK(count_of(done, "Cast") == 1);
  }
}

TEST_CASE("losses are gathered, weighted and reduced, and ignored targets do not count") {
  for (std::int64_t opset : {12, 13, 22})
    for (std::string_view op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
      for (std::string_view reduction : {"none", "sum", "mean"})
        for (int i = 0; i < 4; ++i) defined(op, loss(op, opset, reduction, i & 1, i & 2));
  defined("SoftmaxCrossEntropyLoss", loss("SoftmaxCrossEntropyLoss", 13, "mean", true, true, dtype::i32));
}

TEST_CASE("a loss is not NaN if the ignored class has the probability 0") {
  const auto make = [] {
    model_builder b{13};
    const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(2)});
    const value_id logs = b.node("Log", {b.node("Sub", {x, x})});  // -infinity
    const value_id target = b.constant<std::int64_t>("target", {1}, {1});
    b.output(b.node("NegativeLogLikelihoodLoss", {logs, target},
                    {attribute_of("reduction", "sum"), attribute_of("ignore_index", 1)}));
    return b.take();
  };
  defined("NegativeLogLikelihoodLoss", make);
}

TEST_CASE("CenterCropPad pads and crops, odd numbers at the far end") {
  for (dtype index : {dtype::i64, dtype::i32})
    for (const std::vector<std::int64_t>& to : {std::vector<std::int64_t>{5, 3}, {9, 6}, {6, 5}, {1, 8}}) {
      const auto make = [=](std::vector<std::int64_t> axes) {
        return [=] {
          model_builder b{18};
          const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(6), dim::fixed(5)});
          std::vector<std::int64_t> sizes = to;
          if (axes.empty()) sizes.insert(sizes.begin(), 4);
          const std::vector<std::int32_t> narrow(sizes.begin(), sizes.end());
          const extents shape{std::int64_t(sizes.size())};
          const value_id wanted = index == dtype::i64 ? b.constant<std::int64_t>("sizes", shape, sizes)
                                                      : b.constant<std::int32_t>("sizes", shape, narrow);
          std::vector<attribute> attributes;
          if (!axes.empty()) attributes.push_back(attribute_of("axes", axes));
          b.output(b.node("CenterCropPad", {x, wanted}, attributes));
          return b.take();
        };
      };
      defined("CenterCropPad", make({}));
      defined("CenterCropPad", make({1, -1}));
    }
}

TEST_CASE("GroupNormalization is InstanceNormalization of groups, scaled by channel") {
  defined("GroupNormalization", group_norm);
}

TEST_CASE("SequenceMap is a Loop that appends, with what its body captures") {
  const session done = defined("SequenceMap", mapped);
  CHECK(count_of(done, "Loop") == 1);
}

TEST_CASE("Bernoulli draws with the probability in its input") {
  const auto make = [] {
    model_builder b{15};
    const value_id p = b.constant<float>("p", {2, 5000}, [] {
      std::vector<float> all(10000, 0.0f);
      std::fill(all.begin() + 5000, all.end(), 0.9f);
      return all;
    }());
    b.output(
        b.node("ReduceSum",
               {b.node("Bernoulli", {p}, {attribute_of("seed", 3.0f)}), b.constant<std::int64_t>("axis", {1}, {1})},
               {attribute_of("keepdims", 0)}));
    return b.take();
  };
  const result<session> done = rewritten<rules::definitions>(make());
  REQUIRE_MESSAGE(done, done.error().words());
  CHECK(changes(*done, "BernoulliDefinition") == 1);
  const auto outputs = done->run({});
  REQUIRE_MESSAGE(outputs, outputs.error().words());
  const std::span<const float> sums = (*outputs)[0].value.view().as_unchecked<float>();
  CHECK(sums[0] == 0);
  CHECK(sums[1] > 4300);
  CHECK(sums[1] < 4700);
}

TEST_CASE("float16 is computed in float32 between casts, which a chain needs only at its ends") {
  const auto make = [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(4)});
    const value_id half = b.node("Cast", {x}, {attribute_of("to", std::int64_t(dtype::f16))});
    const value_id turned = b.node("Transpose", {half});  // has a kernel
    const value_id made = b.node("Sigmoid", {b.node("Mul", {turned, turned})});
    b.output(b.node("Cast", {made}, {attribute_of("to", std::int64_t(dtype::f32))}));
    return b.take();
  };
  const session done = check_fires<rules::float16_casts>("InsertCastTransformer", make, 1e-3);  // float16 rounds in
                                                                                                // between
  CHECK(count_of(done, "Cast") == 4);
  CHECK(first_of(done, "Transpose")->version->since == 13);
  for (std::string_view op : {"Mul", "Sigmoid"}) {
    const detail::graph_node* const n = first_of(done, op);
    CHECK(done.graph().main()[n->outputs[0]].type->type == dtype::f32);
  }
  CHECK(done.graph().main()[first_of(done, "Transpose")->outputs[0]].type->type == dtype::f16);
  check_idle<rules::float16_casts>("InsertCastTransformer", one_node("Exp", 17));
}
