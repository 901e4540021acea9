#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A scale, and a zero point of one type.
struct parameters {
  value_id scale, zero;
};
template <class T = std::uint8_t>
parameters scale_of(builder& b, std::string_view name, float scale, int zero) {
  return {b.constant<float>(std::string{name} + "_scale", {}, {scale}),
          b.constant<T>(std::string{name} + "_zero", {}, {T(zero)})};
}
value_id quantized(builder& b, value_id v, parameters p) { return b.node("QuantizeLinear", {v, p.scale, p.zero}); }
value_id dequantized(builder& b, value_id v, parameters p) { return b.node("DequantizeLinear", {v, p.scale, p.zero}); }
value_id floats(builder& b) {
  return b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(3), dim::fixed(4), dim::fixed(4)});
}
value_id integers(builder& b, dtype type = dtype::u8) {
  return b.input("x", type, {dim::fixed(2), dim::fixed(3), dim::fixed(4), dim::fixed(4)});
}

using all_qdq = transform_set<rules::own_dequantizers, rules::double_qdq, rules::qdq, rules::qdq_cleanup>;

template <class Family = all_qdq, class Make>
session rewrites(std::string_view name, Make make, std::int64_t opset = 17) {
  return check_fires<Family>(name, model_of(make, opset), 0);  // no bit may change
}
template <class Family = all_qdq, class Make>
void leaves_alone(std::string_view name, Make make, std::int64_t opset = 17) {
  check_idle<Family>(name, model_of(make, opset));
}
const transform_log::entry* entry_of(const session& s, std::string_view name) {
  for (const transform_log::entry& e : s.rewrites().transforms)
    if (e.name == name) return &e;
  return nullptr;
}
std::size_t ops(const session& s) { return s.graph().main().order().size(); }

}  // namespace

TEST_CASE("EnsureUniqueDQForNodeUnit: each reader has a separate one, at every level") {
  const auto make = model_of([](builder& b) {
    const value_id v = dequantized(b, integers(b), scale_of(b, "p", 0.1f, 100));
    return b.node("Add", {b.node("Mul", {v, v}), b.node("Relu", {v})});
  });
  for (const optimization_level level : {optimization_level::none, optimization_level::all}) {
    session_options options;
    options.optimize = level;
    const session s = *rewritten<rules::own_dequantizers>(make(), options);
    CHECK(count_of(s, "DequantizeLinear") == 3);
    CHECK(entry_of(s, "EnsureUniqueDQForNodeUnit"));
  }
  session_options without;
  without.config.emplace_back("session.disable_quant_qdq", "1");
  const session plain = *rewritten<rules::constant_folding>(make(), without);
  CHECK(count_of(plain, "DequantizeLinear") == 1);
  check_same(plain, *rewritten<all_qdq>(make()), 0);
}

TEST_CASE("EnsureUniqueDQForNodeUnit: readers in subgraphs and graph outputs keep the node") {
  const session s = rewrites<rules::own_dequantizers>("EnsureUniqueDQForNodeUnit", [](builder& b) {
    const value_id v = dequantized(b, integers(b), scale_of(b, "p", 0.1f, 100));
    b.output(v);
    return b.node("Relu", {v});
  });
  CHECK(count_of(s, "DequantizeLinear") == 2);
  CHECK(s.outputs()[0].name == "DequantizeLinear_0_out");
  leaves_alone<rules::own_dequantizers>("EnsureUniqueDQForNodeUnit", [](builder& b) {
    return b.node("Relu", {dequantized(b, integers(b), scale_of(b, "p", 0.1f, 100))});
  });
  leaves_alone<rules::own_dequantizers>(
      "EnsureUniqueDQForNodeUnit", [](builder& b) { return dequantized(b, integers(b), scale_of(b, "p", 0.1f, 100)); });
}

TEST_CASE("DoubleQDQPairsRemover: DequantizeLinear, then the same QuantizeLinear") {
  const auto twice = [](auto type, float second, int zero) {
    using T = decltype(type);
    return [=](builder& b) {
      const parameters p = scale_of<T>(b, "p", 0.1f, 7), q = scale_of<T>(b, "q", second, zero);
      return b.node("Cast", {quantized(b, dequantized(b, integers(b, dtype_of<T>), p), q)},
                    {builder::integer("to", 6)});
    };
  };
  CHECK(ops(rewrites("DoubleQDQPairsRemover", twice(std::uint8_t{}, 0.1f, 7))) == 1);
  CHECK(ops(rewrites("DoubleQDQPairsRemover", twice(std::int8_t{}, 0.1f, 7))) == 1);
  leaves_alone("DoubleQDQPairsRemover", twice(std::uint8_t{}, 0.2f, 7));
  leaves_alone("DoubleQDQPairsRemover", twice(std::uint8_t{}, 0.1f, 8));
  SUBCASE("another type") {
    leaves_alone("DoubleQDQPairsRemover", [](builder& b) {
      const parameters p = scale_of<std::uint8_t>(b, "p", 0.1f, 7), q = scale_of<std::int8_t>(b, "q", 0.1f, 7);
      return quantized(b, dequantized(b, integers(b), p), q);
    });
  }
  SUBCASE("a scale that is not a constant") {
    leaves_alone("DoubleQDQPairsRemover", [](builder& b) {
      const parameters p{b.input("s", dtype::f32, {}), b.constant<std::uint8_t>("z", {}, {std::uint8_t(3)})};
      return quantized(b, dequantized(b, integers(b), p), p);
    });
  }
  SUBCASE("a scale so small that values are lost") {
    leaves_alone("DoubleQDQPairsRemover", [](builder& b) {
      const parameters p = scale_of(b, "p", 1e-40f, 7);
      return quantized(b, dequantized(b, integers(b), p), p);
    });
  }
  SUBCASE("from one graph output to another") {
    leaves_alone("DoubleQDQPairsRemover", [](builder& b) {
      const parameters p = scale_of(b, "p", 0.1f, 7);
      return quantized(b, dequantized(b, integers(b), p), p);  // the input cannot take the name of the output
    });
  }
  SUBCASE("switched off") {
    session_options options;
    options.config.emplace_back("session.disable_double_qdq_remover", "1");
    const session s = *rewritten<rules::qdq>(model_of(twice(std::uint8_t{}, 0.1f, 7))(), options);
    CHECK(count_of(s, "QuantizeLinear") == 1);
  }
}

TEST_CASE("DoubleQDQPairsRemover: every integer is unchanged, at any scale") {
  for (const float scale : {1.2e-38f, 0.003f, 0.1f, 1.0f / 3, 77.7f, 1e30f}) {
    builder b{21};
    const parameters p = scale_of<std::int16_t>(b, "p", scale, -5);
    b.output(quantized(b, dequantized(b, b.input("x", dtype::i16, {dim::fixed(65536)}), p), p));
    result<session> s = as_written(b.take());
    REQUIRE_MESSAGE(s, s.error().words());
    std::vector<std::int16_t> all;
    for (int i = -32768; i < 32768; ++i) all.push_back(std::int16_t(i));
    const any_value in = any_value::tensor<std::int16_t>({65536}, all);
    std::vector<named_input> feeds;
    feeds.emplace_back("x", in);
    auto out = s->run(feeds);
    REQUIRE_MESSAGE(out, out.error().words());
    CHECK(std::memcmp((*out)[0].value.view().data, all.data(), all.size() * 2) == 0);
  }
}

TEST_CASE("ReluQuantRewrite and ClipQuantRewrite: bounds that include all integers") {
  const auto behind = [](const char* op, float scale, int zero, std::vector<float> bounds = {}) {
    return [=](builder& b) {
      std::vector<value_id> in{floats(b)};
      for (std::size_t i = 0; i < bounds.size(); ++i)
        in.push_back(b.constant<float>("bound" + std::to_string(i), {}, {bounds[i]}));
      return quantized(b, b.node(op, in), scale_of<std::int8_t>(b, "p", scale, zero));
    };
  };
  CHECK(ops(rewrites("ReluQuantRewrite", behind("Relu", 0.01f, -128))) == 1);
  leaves_alone("ReluQuantRewrite", behind("Relu", 0.01f, -127));
  leaves_alone("ReluQuantRewrite", behind("Relu", 0.01f, 0));
  CHECK(ops(rewrites("ClipQuantRewrite", behind("Clip", 0.0234f, -128, {0, 6}))) == 1);
  CHECK(ops(rewrites("ClipQuantRewrite", behind("Clip", 0.0078f, 0, {-1, 1}))) == 1);
  CHECK(ops(rewrites("ClipQuantRewrite", behind("Clip", 0.01f, -128, {0}))) == 1);
  leaves_alone("ClipQuantRewrite", behind("Clip", 0.01f, -128, {0, 1}));
  leaves_alone("ClipQuantRewrite", behind("Clip", 0.0234f, -128, {0.5f, 6}));
  leaves_alone("ReluQuantRewrite", [](builder& b) {  // another reader
    const value_id v = b.node("Relu", {floats(b)});
    b.output(b.node("Exp", {v}));
    return quantized(b, v, scale_of<std::int8_t>(b, "p", 0.01f, -128));
  });
  leaves_alone("ReluQuantRewrite", [](builder& b) {  // a graph output
    const value_id v = b.node("Relu", {floats(b)});
    b.output(v);
    return quantized(b, v, scale_of<std::int8_t>(b, "p", 0.01f, -128));
  });
  leaves_alone("ClipQuantRewrite", [](builder& b) {  // a bound that is an input
    const value_id v = b.node("Clip", {floats(b), b.input("low", dtype::f32, {})});
    return quantized(b, v, scale_of<std::int8_t>(b, "p", 0.01f, -128));
  });
}

TEST_CASE("QDQPropagationTransformer: nodes that move elements move integers") {
  struct moving {
    const char* op;
    std::vector<std::int64_t> ints;
    attribute setting;
  };
  const std::vector<std::int64_t> perm{0, 2, 3, 1}, kernel{2, 2};
  const moving all[] = {{"Reshape", {2, -1}, {}},
                        {"Transpose", {}, list_of("perm", perm)},
                        {"Unsqueeze", {0}, {}},
                        {"Flatten", {}, builder::integer("axis", 2)},
                        {"MaxPool", {}, list_of("kernel_shape", kernel)}};
  for (const moving& each : all) {
    const auto node = [each](builder& b, value_id v) {
      std::vector<value_id> in{v};
      if (!each.ints.empty())
        in.push_back(b.constant<std::int64_t>("ints", {std::int64_t(each.ints.size())}, each.ints));
      return b.node(each.op, in,
                    each.setting.name.empty() ? std::vector<attribute>{} : std::vector<attribute>{each.setting});
    };
    const session later = rewrites("QDQPropagationTransformer", [&](builder& b) {
      return b.node("Relu", {node(b, dequantized(b, integers(b), scale_of(b, "p", 0.1f, 100)))});
    });
    CHECK(first_of(later, each.op) == &later.graph().main()[later.graph().main().order()[0]]);
    const session earlier = rewrites("QDQPropagationTransformer", [&](builder& b) {
      return quantized(b, node(b, b.node("Exp", {floats(b)})), scale_of<std::int8_t>(b, "p", 0.03f, -100));
    });
    CHECK(first_of(earlier, each.op) == &earlier.graph().main()[earlier.graph().main().order()[2]]);
    // No other node is left between them.
    const session between = rewrites("QDQPropagationTransformer", [&](builder& b) {
      const parameters p = scale_of(b, "p", 0.1f, 100);
      return quantized(b, node(b, dequantized(b, integers(b), p)), p);
    });
    CHECK(ops(between) == 1);
  }
}

TEST_CASE("QDQPropagationTransformer keeps nodes with other readers, and nodes that would be more work") {
  const auto relu_of = [](builder& b, value_id v) { return b.node("Relu", {v}); };
  const auto turned = [](builder& b, value_id v) {
    const std::vector<std::int64_t> perm{0, 2, 3, 1};
    return b.node("Transpose", {v}, {list_of("perm", perm)});
  };
  SUBCASE("two readers after the node") {
    leaves_alone("QDQPropagationTransformer", [&](builder& b) {
      const value_id v = turned(b, dequantized(b, integers(b), scale_of(b, "p", 0.1f, 100)));
      return b.node("Add", {relu_of(b, v), b.node("Exp", {v})});
    });
  }
  SUBCASE("two readers before quantization") {
    leaves_alone("QDQPropagationTransformer", [&](builder& b) {
      const value_id v = turned(b, floats(b));
      b.output(relu_of(b, v));
      return quantized(b, v, scale_of(b, "p", 0.1f, 100));
    });
  }
  SUBCASE("a graph output between") {
    leaves_alone("QDQPropagationTransformer", [&](builder& b) {
      const value_id v = turned(b, floats(b));
      b.output(v);
      return quantized(b, v, scale_of(b, "p", 0.1f, 100));
    });
  }
  SUBCASE("a scale for each channel") {
    leaves_alone("QDQPropagationTransformer", [&](builder& b) {
      const parameters p{b.constant<float>("s", {3}, {0.1f, 0.2f, 0.3f}),
                         b.constant<std::uint8_t>("z", {3}, {std::uint8_t(1), std::uint8_t(2), std::uint8_t(3)})};
      return relu_of(b, turned(b, dequantized(b, integers(b), p)));
    });
  }
  SUBCASE("a slice, of which the whole would be quantized") {
    leaves_alone("QDQPropagationTransformer", [&](builder& b) {
      const auto ints = [&](const char* name, std::int64_t i) { return b.constant<std::int64_t>(name, {1}, {i}); };
      const value_id v = b.node("Slice", {floats(b), ints("from", 0), ints("to", 1)});
      return quantized(b, v, scale_of(b, "p", 0.1f, 100));
    });
  }
  SUBCASE("MaxPool of an opset without integers") {
    leaves_alone(
        "QDQPropagationTransformer",
        [&](builder& b) {
          const std::vector<std::int64_t> kernel{2, 2};
          const value_id v = b.node("MaxPool", {floats(b)}, {list_of("kernel_shape", kernel)});
          return quantized(b, v, scale_of(b, "p", 0.1f, 100));
        },
        11);
  }
}

namespace {

/// The cleanup without the key that it requires.
struct wanted_cleanup : rules::qdq_cleanup {
  static const transform_table& table() {
    static const transform_table made = [] {
      transform_table copy = rules::qdq_cleanup::table();
      copy.when = {};
      return copy;
    }();
    return made;
  }
};

}  // namespace

TEST_CASE("QDQFinalCleanupTransformer: pairs that only round are removed on request") {
  const auto make = model_of([](builder& b) {
    const parameters p = scale_of(b, "p", 0.01f, 100);
    return b.node("Relu", {dequantized(b, quantized(b, b.node("Exp", {floats(b)}), p), p)});
  });
  session_options options;
  CHECK(count_of(*rewritten<all_qdq>(make(), options), "QuantizeLinear") == 1);
  options.config.emplace_back("session.enable_quant_qdq_cleanup", "1");
  const session s = *rewritten<all_qdq>(make(), options);
  CHECK(ops(s) == 2);
  CHECK(entry_of(s, "QDQFinalCleanupTransformer"));
  leaves_alone<wanted_cleanup>("QDQFinalCleanupTransformer", [](builder& b) {
    return b.node(
        "Relu", {dequantized(b, quantized(b, floats(b), scale_of(b, "p", 0.01f, 100)), scale_of(b, "q", 0.02f, 100))});
  });
  leaves_alone<wanted_cleanup>("QDQFinalCleanupTransformer", [](builder& b) {
    const parameters p = scale_of(b, "p", 0.01f, 100);
    const value_id v = quantized(b, floats(b), p);
    b.output(v);
    return b.node("Relu", {dequantized(b, v, p)});
  });
}
