#include <cameo/op/onnx.hpp>

#include "small_models.hpp"

// Float16 values between two nodes: some stay float32, others are rounded.
namespace cameo::test {
namespace {

constexpr optimization_level all_levels[] = {optimization_level::none, optimization_level::basic,
                                             optimization_level::extended, optimization_level::layout,
                                             optimization_level::all};
constexpr std::string_view round_key = "session.round_float16";

value_id half(builder& b, float number) {
  const auto name = b.whole().memory.copy("k" + std::to_string(b.main().value_count()));
  REQUIRE(name);
  return b.constant<float16>(*name, {}, {float16{number}});
}
value_id half_input(builder& b) { return b.input("x", dtype::f16, {dim::fixed(2), dim::fixed(4)}); }

/// x * k * k / k / k, where each product leaves the range of float16.
value_id out_and_back(builder& b, value_id x) {
  const value_id k = half(b, 1000);
  const value_id up = b.node("Mul", {b.node("Mul", {x, k}), k});
  return b.node("Div", {b.node("Div", {up, k}), k});
}

session loaded(std::unique_ptr<model> net, optimization_level level = optimization_level::all, bool rounds = false) {
  session_options options;
  options.optimize = level;
  if (rounds) options.config.emplace_back(round_key, "1");
  auto made = runtime<eps::cpu>{}.load(std::move(net), options);
  REQUIRE_MESSAGE(made, made.error().words());
  return std::move(*made);
}

/// The first number of the first output, for an input of ones.
float first_number(const session& s) {
  const std::vector<float16> ones(8, float16{1.0f});
  auto outputs = s.run({{"x", any_value::tensor<float16>(extents{2, 4}, ones)}});
  REQUIRE_MESSAGE(outputs, outputs.error().words());
  const value y = (*outputs)[0].value.view();
  REQUIRE(y.type == dtype::f16);
  return float(y.as_unchecked<float16>()[0]);
}

dtype type_of_first(const session& s, std::string_view op) {
  const detail::graph_node* const found = first_of(s, op);
  REQUIRE(found);
  return s.graph().main()[found->outputs[0]].type->type;
}

TEST_CASE("a float16 value beyond the range reaches the next node that computes without rounding, at every level") {
  for (const optimization_level level : all_levels) {
    const session s = loaded(model_of([](builder& b) { return out_and_back(b, half_input(b)); })(), level);
    CHECK(first_number(s) == 1.0f);
    CHECK(count_of(s, "Cast") == 2);
    CHECK(std::isinf(
        first_number(loaded(model_of([](builder& b) { return out_and_back(b, half_input(b)); })(), level, true))));
  }
}

TEST_CASE("a float16 node between products stays float16") {
  const session s = loaded(model_of([](builder& b) {
    const value_id w = b.constant<float16>("w", {4, 4}, std::vector<float16>(16, float16{0.5f}));
    return b.node("MatMul", {b.node("Exp", {b.node("MatMul", {half_input(b), w})}), w});
  })());
  CHECK(count_of(s, "Cast") == 0);
  CHECK(type_of_first(s, "Exp") == dtype::f16);
}

TEST_CASE(
    "a float16 node that only applies limits is float32 between nodes that compute, and float16 before a product") {
  const auto limited = [](bool computes_again) {
    return model_of([=](builder& b) {
      const value_id x = half_input(b), w = b.constant<float16>("w", {4, 4}, std::vector<float16>(16, float16{0.5f}));
      const value_id y = b.node("Neg", {b.node("Exp", {x})});
      return computes_again ? b.node("Exp", {y}) : b.node("MatMul", {y, w});
    })();
  };
  CHECK(type_of_first(loaded(limited(true)), "Neg") == dtype::f32);
  const session s = loaded(limited(false));
  CHECK(type_of_first(s, "Neg") == dtype::f16);
  CHECK(count_of(s, "Cast") == 0);
}

TEST_CASE("a graph output between two float16 nodes is rounded, and the second node reads the unrounded value") {
  const session s = loaded(model_of([](builder& b) {
    const value_id k = half(b, 1000), up = b.node("Mul", {b.node("Mul", {half_input(b), k}), k});
    b.output(up);
    b.output(b.node("Div", {up, k}));
  })());
  CHECK(std::isinf(first_number(s)));
  const std::vector<float16> ones(8, float16{1.0f});
  auto outputs = s.run({{"x", any_value::tensor<float16>(extents{2, 4}, ones)}});
  REQUIRE(outputs);
  CHECK(float((*outputs)[1].value.view().as_unchecked<float16>()[0]) == 1000.0f);
}

TEST_CASE("float16 nodes that read only constants round at every level, and are folded from basic on") {
  const auto product = [](bool rounds, optimization_level level) {
    return loaded(model_of([](builder& b) {
                    const value_id k = half(b, 1000), kk = b.node("Mul", {k, k});
                    return b.node("Div", {b.node("Mul", {half_input(b), kk}), kk});
                  })(),
                  level, rounds);
  };
  for (const optimization_level level : all_levels) CHECK(std::isnan(first_number(product(false, level))));
  CHECK(count_of(product(false, optimization_level::basic), "Mul") == 1);
  CHECK(std::isnan(first_number(product(true, optimization_level::all))));
}

TEST_CASE("a large float16 constant keeps its 16 bits, a small one becomes float32") {
  const auto sum = [](std::int64_t columns) {
    return loaded(model_of([=](builder& b) {
      const std::vector<float16> c(std::size_t(columns), float16{1.5f});
      const value_id x = b.input("x", dtype::f16, {dim::fixed(columns)});
      return b.node("Exp", {b.node("Add", {x, b.constant<float16>("c", {columns}, c)})});
    })());
  };
  const auto reads = [](const session& s) {
    const graph& g = s.graph().main();
    for (node_id n : g.order())
      if (g[n].op_type == "Add") return g.constant_of(g.input(n, 1)) != nullptr;
    return false;
  };
  CHECK(reads(sum(1024)));
  CHECK_FALSE(reads(sum(std::int64_t{1} << 17)));
}

TEST_CASE("with session.round_float16 no float16 nodes are fused") {
  const auto gelu = [] {
    return model_of([](builder& b) {
      const value_id x = half_input(b);
      return b.node("Mul", {x, b.node("Sigmoid", {b.node("Mul", {x, half(b, 1.5f)})})});
    })();
  };
  CHECK(count_of(loaded(gelu()), "QuickGelu") == 1);
  CHECK(count_of(loaded(gelu(), optimization_level::all, true), "QuickGelu") == 0);
}

TEST_CASE("before opset 6, whose Casts have the names of types, float16 values stay float32 between nodes as well") {
  for (const optimization_level level : all_levels) {
    const auto make = model_of(
        [](builder& b) {
          const value_id x = half_input(b), two = b.node("Add", {x, x}), four = b.node("Add", {two, two});
          return b.node("Log", {b.node("Log", {b.node("Exp", {b.node("Exp", {four})})})});
        },
        5);
    CHECK(std::abs(first_number(loaded(make(), level)) - 4.0f) < 0.01f);
  }
}

/// Takes only Exp.
struct exp_provider {
  static constexpr std::string_view name = "exp", long_name = "ExpExecutionProvider";
  bool claims(const node_view& n) const { return n.has_op<op::Exp>(); }
  status execute(const step_view&, run_context& c) const {
    const auto x = c.input<float16>(0);
    auto y = c.output<float16>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = float16{std::exp(float(x[i]))};
    return {};
  }
};

TEST_CASE("a node of another provider reads and makes float16") {
  auto s = runtime<exp_provider, eps::cpu>{}.load(
      model_of([](builder& b) { return b.node("Sqrt", {b.node("Exp", {b.node("Sqrt", {half_input(b)})})}); })());
  REQUIRE_MESSAGE(s, s.error().words());
  CHECK(count_of(*s, "Cast") == 0);
  CHECK(std::abs(first_number(*s) - 1.6484f) < 0.002f);
}

}  // namespace
}  // namespace cameo::test
