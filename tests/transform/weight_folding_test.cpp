#include <cameo/transform/transform.hpp>

#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A convolution of [2, 4, 5, 5] to 6 channels.
struct conv_options {
  bool transposed = false, bias = true, double_precision = false;
  std::int64_t group = 1;
};
template <class T = float>
value_id conv(builder& b, const conv_options& o = {}) {
  const value_id x = b.input("x", dtype_of<T>, {dim::fixed(2), dim::fixed(4), dim::fixed(5), dim::fixed(5)});
  const extents shape = o.transposed ? extents{4, 6 / o.group, 3, 3} : extents{6, 4 / o.group, 3, 3};
  const std::vector<float> w = numbers(std::size_t(shape.count())), c = numbers(6, 0.5f);
  std::vector<value_id> inputs{x, b.constant<T>("w", shape, {w.begin(), w.end()})};
  if (o.bias) inputs.push_back(b.constant<T>("b", {6}, {c.begin(), c.end()}));
  return b.node(o.transposed ? "ConvTranspose" : "Conv", inputs,
                {builder::integer("group", o.group), list_of("pads", {1, 1, 1, 1})});
}
value_id normalized(builder& b, value_id v, std::int64_t channels) {
  const extents shape{channels};
  const std::size_t n = std::size_t(channels);
  return b.node(
      "BatchNormalization",
      {v, b.constant<float>("gamma", shape, numbers(n, 1.2f)), b.constant<float>("beta", shape, numbers(n, 0.1f)),
       b.constant<float>("mean", shape, numbers(n, 0.3f)), b.constant<float>("variance", shape, numbers(n, 2.0f))});
}
/// A product of [3, 8] with constant [8, 6].
value_id product(builder& b, std::vector<dim> rows = {dim::fixed(3)}) {
  rows.push_back(dim::fixed(8));
  return b.node("MatMul", {b.input("x", dtype::f32, rows), b.constant<float>("w", {8, 6}, numbers(48))});
}
value_id gemm(builder& b, bool bias, std::int64_t transposed = 0, std::vector<attribute> more = {}) {
  const value_id x = b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(8)});
  std::vector<value_id> in{x, b.constant<float>("w", transposed ? extents{6, 8} : extents{8, 6}, numbers(48))};
  if (bias) in.push_back(b.constant<float>("c", {1, 6}, numbers(6, 0.5f)));
  more.push_back(builder::integer("transB", transposed));
  return b.node("Gemm", in, more);
}
attribute real(std::string_view name, float f) { return attribute_of(name, f); }

}  // namespace

TEST_CASE("ConvBNFusion: batch normalization is folded into every kind of convolution") {
  for (const conv_options& o : {conv_options{}, conv_options{false, false}, conv_options{false, true, false, 2},
                                conv_options{true}, conv_options{true, false, false, 2}}) {
    const session s = check_fires<rules::weight_folding>(
        "ConvBNFusion", model_of([&](builder& b) { return normalized(b, conv(b, o), 6); }));
    CHECK(count_of(s, "BatchNormalization") == 0);
    CHECK(s.graph().main().order().size() == 1);
  }
}

TEST_CASE("ConvBNFusion keeps nodes with other readers, and nodes that are not the same in every run") {
  const auto idle = [](auto make, std::int64_t opset = 17) {
    check_idle<rules::weight_folding>("ConvBNFusion", model_of(make, opset));
  };
  SUBCASE("another reader") {
    idle([](builder& b) {
      const value_id v = conv(b);
      return b.node("Add", {normalized(b, v, 6), b.node("Relu", {v})});
    });
  }
  SUBCASE("a graph output") {
    idle([](builder& b) {
      const value_id v = conv(b);
      b.output(v);
      return normalized(b, v, 6);
    });
  }
  SUBCASE("weights that are an input") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4), dim::fixed(5), dim::fixed(5)});
      const value_id w = b.input("w", dtype::f32, {dim::fixed(6), dim::fixed(4), dim::fixed(3), dim::fixed(3)});
      return normalized(b, b.node("Conv", {x, w}), 6);
    });
  }
  SUBCASE("statistics that are an input") {
    idle([](builder& b) {
      const value_id c = b.constant<float>("c", {6}, numbers(6, 2.0f));
      const value_id mean = b.input("mean", dtype::f32, {dim::fixed(6)});
      return b.node("BatchNormalization", {conv(b), c, c, mean, c});
    });
  }
}

TEST_CASE("ConvMulFusion and ConvAddFusion: constants for each channel") {
  const extents shapes[] = {{6, 1, 1}, {1, 6, 1, 1}, {}, {1, 1}};
  for (const extents& shape : shapes)
    for (const char* op : {"Mul", "Div", "Add", "Sub"}) {
      const std::string_view name =
          op == std::string_view{"Mul"} || op == std::string_view{"Div"} ? "ConvMulFusion" : "ConvAddFusion";
      const session s = check_fires<rules::weight_folding>(
          name, model_of([&](builder& b) {
            const value_id v = conv(b, {shape.rank() == 4, shape.rank() != 3});
            return b.node(op, {v, b.constant<float>("k", shape, numbers(std::size_t(shape.count()), 1.5f))});
          }));
      CHECK(s.graph().main().order().size() == 1);
    }
  check_fires<rules::weight_folding>("ConvMulFusion", model_of([](builder& b) {
                                       return b.node("Mul", {b.constant<float>("k", {1}, {2.0f}), conv(b)});
                                     }));
}

TEST_CASE("ConvMulFusion and ConvAddFusion keep what is not constant for each channel") {
  const auto idle = [](auto make) {
    check_idle<rules::weight_folding>("ConvMulFusion", model_of([=](builder& b) { return make(b, "Mul"); }));
    check_idle<rules::weight_folding>("ConvAddFusion", model_of([=](builder& b) { return make(b, "Add"); }));
  };
  SUBCASE("a number for each column") {
    idle([](builder& b, const char* op) {
      return b.node(op, {conv(b), b.constant<float>("k", {5}, numbers(5, 1.0f))});
    });
  }
  SUBCASE("a number for each image") {
    idle([](builder& b, const char* op) {
      return b.node(op, {conv(b), b.constant<float>("k", {2, 1, 1, 1}, numbers(2, 1.0f))});
    });
  }
  SUBCASE("a constant of higher rank") {
    idle([](builder& b, const char* op) {
      return b.node(op, {conv(b), b.constant<float>("k", {1, 1, 1, 1, 1}, {2.0f})});
    });
  }
  SUBCASE("one output channel that the constant makes six") {
    idle([](builder& b, const char* op) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(2), dim::fixed(3), dim::fixed(3)});
      const value_id v = b.node("Conv", {x, b.constant<float>("w", {1, 2, 1, 1}, {1.0f, 2.0f})});
      return b.node(op, {v, b.constant<float>("k", {6, 1, 1}, numbers(6, 1.0f))});
    });
  }
  SUBCASE("another reader") {
    idle([](builder& b, const char* op) {
      const value_id v = conv(b);
      return b.node("Add", {b.node(op, {v, b.constant<float>("k", {}, {2.0f})}), b.node("Relu", {v})});
    });
  }
  SUBCASE("a graph output") {
    idle([](builder& b, const char* op) {
      const value_id v = conv(b);
      b.output(v);
      return b.node(op, {v, b.constant<float>("k", {}, {2.0f})});
    });
  }
  SUBCASE("no constant") {
    idle([](builder& b, const char* op) {
      return b.node(op, {conv(b), b.input("k", dtype::f32, {dim::fixed(6), dim::fixed(1), dim::fixed(1)})});
    });
  }
  SUBCASE("a factor that makes the weights infinite") {
    check_idle<rules::weight_folding>(
        "ConvMulFusion", model_of([](builder& b) {
          const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(1), dim::fixed(3)});
          const value_id v = b.node("Conv", {x, b.constant<float>("w", {1, 1, 1}, {1e10f})});
          return b.node("Mul", {v, b.constant<float>("k", {}, {1e30f})});
        }));
  }
  SUBCASE("a number that is not finite") {
    idle([](builder& b, const char* op) { return b.node(op, {conv(b), b.constant<float>("k", {}, {INFINITY})}); });
  }
  SUBCASE("a constant that a caller may replace") {
    idle([](builder& b, const char* op) {
      const value_id k = b.constant<float>("k", {}, {2.0f});
      b.main().add_input(k);
      return b.node(op, {conv(b), k});
    });
  }
}

TEST_CASE("a chain of affine operations ends in one convolution") {
  const session s =
      check_fires<rules::weight_folding>("ConvBNFusion", model_of([](builder& b) {
                                           value_id v = conv(b);
                                           v = b.node("Add", {v, b.constant<float>("p", {6, 1, 1}, numbers(6))});
                                           v = normalized(b, v, 6);
                                           v = b.node("Mul", {v, b.constant<float>("q", {}, {0.5f})});
                                           return b.node("Relu", {v});
                                         }));
  CHECK(s.graph().main().order().size() == 2);
}

TEST_CASE("weights with other readers are copied only when they are small") {
  const auto make = [](std::int64_t channels) {
    return model_of([channels](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(channels)});
      const std::vector<float> all(std::size_t(channels * channels), 0.01f);
      const value_id w = b.constant<float>("w", {channels, channels}, all);
      const value_id v = b.node("Mul", {b.node("MatMul", {x, w}), b.constant<float>("k", {}, {2.0f})});
      return b.node("MatMul", {v, w});
    });
  };
  check_fires<rules::weight_folding>("ConstantScaleFusion", make(16));
  check_idle<rules::weight_folding>("ConstantScaleFusion", make(1100));
}

TEST_CASE("MatMulAddFusion: a product of matrices and a bias are Gemm") {
  for (const extents& shape : {extents{6}, extents{1, 6}, extents{}, extents{1}, extents{3, 6}, extents{3, 1}}) {
    const session s = check_fires<rules::weight_folding>(
        "MatMulAddFusion", model_of([&](builder& b) {
          return b.node("Add", {b.constant<float>("c", shape, numbers(std::size_t(shape.count()))), product(b)});
        }));
    CHECK(count_of(s, "Gemm") == 1);
    CHECK(s.graph().main().order().size() == 1);
  }
  check_fires<rules::weight_folding>(
      "MatMulAddFusion", model_of([](builder& b) {
        return b.node("Add", {product(b, {b.symbol("rows")}), b.input("c", dtype::f32, {dim::fixed(6)})});
      }));
}

TEST_CASE("MatMulAddFusion keeps other sums") {
  const auto idle = [](auto make, std::int64_t opset = 17) {
    check_idle<rules::weight_folding>("MatMulAddFusion", model_of(make, opset));
  };
  SUBCASE("rank 3") {
    idle([](builder& b) {
      return b.node("Add", {product(b, {dim::fixed(2), dim::fixed(3)}), b.constant<float>("c", {6}, numbers(6))});
    });
  }
  SUBCASE("a bias of higher rank") {
    idle([](builder& b) { return b.node("Add", {product(b), b.constant<float>("c", {1, 1, 6}, numbers(6))}); });
  }
  SUBCASE("a bias that makes the product larger") {
    idle([](builder& b) {
      return b.node("Add", {product(b, {dim::fixed(1)}), b.constant<float>("c", {4, 6}, numbers(24))});
    });
  }
  SUBCASE("another large operand") {
    idle([](builder& b) {
      return b.node("Add", {product(b), b.input("c", dtype::f32, {dim::fixed(3), dim::fixed(6)})});
    });
  }
  SUBCASE("another reader") {
    idle([](builder& b) {
      const value_id v = product(b);
      return b.node("Mul", {b.node("Add", {v, b.constant<float>("c", {6}, numbers(6))}), v});
    });
  }
  SUBCASE("a graph output") {
    idle([](builder& b) {
      const value_id v = product(b);
      b.output(v);
      return b.node("Add", {v, b.constant<float>("c", {6}, numbers(6))});
    });
  }
  SUBCASE("integers") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::i32, {dim::fixed(2), dim::fixed(3)});
      const value_id w = b.constant<std::int32_t>("w", {3, 2}, {1, 2, 3, 4, 5, 6});
      return b.node("Add", {b.node("MatMul", {x, w}), b.constant<std::int32_t>("c", {2}, {1, 2})});
    });
  }
}

TEST_CASE("GemmSumFusion: a sum becomes Gemm's bias") {
  for (const std::int64_t transposed : {0, 1})
    for (const bool bias : {false, true}) {
      const session s = check_fires<rules::weight_folding>(
          "GemmSumFusion", model_of([&](builder& b) {
            const value_id v = gemm(b, bias, transposed, {real("alpha", 0.5f), real("beta", 3.0f)});
            return b.node("Add", {v, b.constant<float>("k", {6}, numbers(6, 1.0f))});
          }));
      CHECK(s.graph().main().order().size() == 1);
    }
  check_fires<rules::weight_folding>("GemmSumFusion", model_of([](builder& b) {
                                       const value_id k = b.input("k", dtype::f32, {dim::fixed(1), dim::fixed(6)});
                                       return b.node("Sum", {k, gemm(b, false, 0, {real("beta", 0.0f)})});
                                     }));
  check_fires<rules::weight_folding>("GemmSumFusion", model_of([](builder& b) {
                                       return b.node("Sub", {gemm(b, true), b.constant<float>("k", {1}, {2.0f})});
                                     }));
}

TEST_CASE("GemmSumFusion keeps other sums") {
  const auto idle = [](auto make) { check_idle<rules::weight_folding>("GemmSumFusion", model_of(make)); };
  SUBCASE("two biases, one of them not constant") {
    idle([](builder& b) { return b.node("Add", {gemm(b, true), b.input("k", dtype::f32, {dim::fixed(6)})}); });
  }
  SUBCASE("a number for each row, with a bias") {
    idle([](builder& b) { return b.node("Add", {gemm(b, true), b.constant<float>("k", {3, 1}, numbers(3))}); });
  }
  SUBCASE("a difference") {
    idle([](builder& b) { return b.node("Sub", {b.constant<float>("k", {6}, numbers(6)), gemm(b, true)}); });
  }
  SUBCASE("another reader") {
    idle([](builder& b) {
      const value_id v = gemm(b, false);
      return b.node("Mul", {b.node("Add", {v, b.constant<float>("k", {6}, numbers(6))}), v});
    });
  }
  SUBCASE("a graph output") {
    idle([](builder& b) {
      const value_id v = gemm(b, false);
      b.output(v);
      return b.node("Add", {v, b.constant<float>("k", {6}, numbers(6))});
    });
  }
}

TEST_CASE("MatMul_BatchNormalization_Fusion: a product, a bias and a normalization are one Gemm") {
  const session s = check_fires<rules::weight_folding>(
      "MatMul_BatchNormalization_Fusion", model_of([](builder& b) {
        const value_id sum = b.node("Add", {product(b), b.constant<float>("c", {6}, numbers(6))});
        return b.node("Relu", {normalized(b, sum, 6)});
      }));
  CHECK(count_of(s, "Gemm") == 1);
  CHECK(s.graph().main().order().size() == 2);
  check_fires<rules::weight_folding>("MatMul_BatchNormalization_Fusion",
                                     model_of([](builder& b) { return normalized(b, product(b), 6); }));
  check_idle<rules::weight_folding>("MatMul_BatchNormalization_Fusion", model_of([](builder& b) {
                                      return normalized(b, product(b, {dim::fixed(2), dim::fixed(6)}), 6);
                                    }));
  check_idle<rules::weight_folding>("MatMul_BatchNormalization_Fusion", model_of([](builder& b) {
                                      const value_id v = product(b);
                                      b.output(v);
                                      return normalized(b, v, 6);
                                    }));
}

TEST_CASE("ConstantScaleFusion: factors after and before products are folded into the weights") {
  for (const char* op : {"Mul", "Div"}) {
    const auto times = [op](builder& b, value_id v, extents shape) {
      return b.node(op, {v, b.constant<float>("k", shape, numbers(std::size_t(shape.count()), 3.0f))});
    };
    const auto fires = [&](auto make) {
      const session s = check_fires<rules::weight_folding>("ConstantScaleFusion", model_of(make));
      CHECK(s.graph().main().order().size() == 1);
    };
    fires([&](builder& b) { return times(b, product(b, {dim::fixed(2), dim::fixed(3)}), {6}); });
    fires([&](builder& b) { return times(b, product(b, {dim::fixed(3)}), {}); });
    fires([&](builder& b) { return times(b, gemm(b, true, 1), {1, 6}); });
    fires([&](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(2), dim::fixed(4), dim::fixed(4)});
      return b.node("Conv", {times(b, x, {1}), b.constant<float>("w", {3, 2, 1, 1}, numbers(6))});
    });
    fires([&](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
      return b.node("MatMul", {times(b, x, {}), b.constant<float>("w", {4, 2}, numbers(8))});
    });
  }
}

TEST_CASE("ConstantScaleFusion keeps factors without constant weights, or that are part of something") {
  const auto idle = [](auto make) { check_idle<rules::weight_folding>("ConstantScaleFusion", model_of(make)); };
  SUBCASE("scores of attention") {
    idle([](builder& b) {
      const value_id q = b.input("q", dtype::f32, {dim::fixed(2), dim::fixed(4)});
      const value_id k = b.input("k", dtype::f32, {dim::fixed(4), dim::fixed(3)});
      return b.node("Mul", {b.node("MatMul", {q, k}), b.constant<float>("s", {}, {0.125f})});
    });
  }
  SUBCASE("the half of a Gelu") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
      const value_id half = b.node("Mul", {b.node("Mul", {x, b.node("Erf", {x})}), b.constant<float>("h", {}, {0.5f})});
      return b.node("MatMul", {half, b.constant<float>("w", {4, 2}, numbers(8))});
    });
  }
  SUBCASE("a factor for each row") {
    idle([](builder& b) { return b.node("Mul", {product(b), b.constant<float>("k", {3, 1}, numbers(3, 1.0f))}); });
  }
  SUBCASE("integers") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::i32, {dim::fixed(2), dim::fixed(3)});
      const value_id w = b.constant<std::int32_t>("w", {3, 2}, {1, 2, 3, 4, 5, 6});
      return b.node("Mul", {b.node("MatMul", {x, w}), b.constant<std::int32_t>("k", {}, {2})});
    });
  }
  SUBCASE("another reader") {
    idle([](builder& b) {
      const value_id v = product(b);
      return b.node("Add", {b.node("Mul", {v, b.constant<float>("k", {}, {2.0f})}), v});
    });
  }
  SUBCASE("a graph output") {
    idle([](builder& b) {
      const value_id v = product(b);
      b.output(v);
      return b.node("Mul", {v, b.constant<float>("k", {}, {2.0f})});
    });
  }
}

TEST_CASE("GemmTransposeFusion: transposed operands become operands with the opposite flag") {
  const session s = check_fires<rules::weight_folding>(
      "GemmTransposeFusion", model_of([](builder& b) {
        const value_id x = b.node("Transpose", {b.input("x", dtype::f32, {dim::fixed(8), dim::fixed(3)})});
        const value_id w =
            b.node("Transpose", {b.constant<float>("w", {8, 6}, numbers(48))}, {list_of("perm", {1, 0})});
        return b.node("Gemm", {x, w}, {builder::integer("transB", 1)});
      }));
  CHECK(s.graph().main().order().size() == 1);
  check_idle<rules::weight_folding>("GemmTransposeFusion", model_of([](builder& b) {
                                      const value_id x = b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(8)});
                                      const value_id same = b.node("Transpose", {x}, {list_of("perm", {0, 1})});
                                      return b.node("Gemm", {same, b.constant<float>("w", {8, 6}, numbers(48))});
                                    }));
}

TEST_CASE("ConstantReassociation: two constants become one") {
  struct pair_of_ops {
    const char *first, *second;
  };
  const pair_of_ops pairs[] = {{"Add", "Add"}, {"Add", "Sub"}, {"Sub", "Add"}, {"Sub", "Sub"},
                               {"Mul", "Mul"}, {"Mul", "Div"}, {"Div", "Mul"}, {"Div", "Div"}};
  for (const pair_of_ops& each : pairs)
    for (const bool scalar_first : {false, true}) {
      const session s = check_fires<rules::weight_folding>(
          "ConstantReassociation", model_of([&](builder& b) {
            const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(4)});
            const value_id p = b.constant<float>("p", {}, {1.5f}), q = b.constant<float>("q", {4}, {1, 2, 3, 4});
            return b.node(each.second, {b.node(each.first, {x, scalar_first ? p : q}), scalar_first ? q : p});
          }));
      CHECK(s.graph().main().order().size() == 1);
    }
}

TEST_CASE("ConstantReassociation keeps other pairs") {
  const auto idle = [](auto make) { check_idle<rules::weight_folding>("ConstantReassociation", model_of(make)); };
  SUBCASE("a sum and a product") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(4)});
      const value_id c = b.constant<float>("c", {}, {2.0f});
      return b.node("Mul", {b.node("Add", {x, c}), c});
    });
  }
  SUBCASE("constants whose sum is larger than both") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(4)});
      const value_id sum = b.node("Add", {x, b.constant<float>("p", {4}, {1, 2, 3, 4})});
      return b.node("Add", {sum, b.constant<float>("q", {3, 1}, {1, 2, 3})});
    });
  }
  SUBCASE("integers") {
    idle([](builder& b) {
      const value_id x = b.input("x", dtype::i32, {dim::fixed(4)});
      const value_id c = b.constant<std::int32_t>("c", {}, {2});
      return b.node("Mul", {b.node("Mul", {x, c}), c});
    });
  }
  SUBCASE("another reader") {
    idle([](builder& b) {
      const value_id c = b.constant<float>("c", {}, {2.0f});
      const value_id v = b.node("Mul", {b.input("x", dtype::f32, {dim::fixed(4)}), c});
      return b.node("Add", {b.node("Mul", {v, c}), v});
    });
  }
  SUBCASE("a graph output") {
    idle([](builder& b) {
      const value_id c = b.constant<float>("c", {}, {2.0f});
      const value_id v = b.node("Mul", {b.input("x", dtype::f32, {dim::fixed(4)}), c});
      b.output(v);
      return b.node("Mul", {v, c});
    });
  }
  SUBCASE("a quotient whose product is not a number") {
    idle([](builder& b) {
      const value_id c = b.constant<float>("c", {}, {1e30f});
      return b.node("Mul", {b.node("Mul", {b.input("x", dtype::f32, {dim::fixed(4)}), c}), c});
    });
  }
}

namespace {

/// A convolution after a Pad of [1, 2, 5, 4].
value_id padded(builder& b, std::vector<std::int64_t> pads, std::vector<attribute> conv = {}, float with = 0,
                std::vector<attribute> how = {}) {
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(2), dim::fixed(5), dim::fixed(4)});
  const value_id v =
      b.node("Pad", {x, b.constant<std::int64_t>("pads", {8}, pads), b.constant<float>("with", {}, {with})}, how);
  return b.node("Conv", {v, b.constant<float>("w", {3, 2, 3, 3}, numbers(54))}, conv);
}

}  // namespace

TEST_CASE("Pad_Fusion: zeros around images become pads of the convolution") {
  const std::vector<std::int64_t> own{1, 0, 2, 3};
  const std::vector<attribute> attributes[] = {
      {}, {list_of("pads", own)}, {attribute_of("auto_pad", std::string_view{"VALID"})}};
  for (const std::vector<attribute>& conv : attributes) {
    const session s = check_fires<rules::weight_folding>(
        "Pad_Fusion", model_of([&](builder& b) { return padded(b, {0, 0, 1, 2, 0, 0, 0, 1}, conv); }));
    CHECK(s.graph().main().order().size() == 1);
  }
  check_fires<rules::weight_folding>(
      "Pad_Fusion", model_of(
                        [](builder& b) {
                          const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(1), dim::fixed(5)});
                          const value_id v = b.node("Pad", {x}, {list_of("pads", {0, 0, 1, 0, 0, 2})});
                          return b.node("Conv", {v, b.constant<float>("w", {1, 1, 2}, {1, 2})});
                        },
                        10));
}

TEST_CASE("Pad_Fusion keeps other pads") {
  const auto idle = [](auto make) { check_idle<rules::weight_folding>("Pad_Fusion", model_of(make)); };
  idle([](builder& b) { return padded(b, {0, 0, 1, 1, 0, 0, 1, 1}, {}, 0.5f); });
  idle([](builder& b) { return padded(b, {0, 0, 1, 1, 0, 0, -1, 1}); });
  idle([](builder& b) { return padded(b, {1, 0, 1, 1, 0, 0, 1, 1}); });
  idle([](builder& b) {
    return padded(b, {0, 0, 1, 1, 0, 0, 1, 1}, {}, 0, {attribute_of("mode", std::string_view{"edge"})});
  });
  idle([](builder& b) {
    return padded(b, {0, 0, 1, 1, 0, 0, 1, 1}, {attribute_of("auto_pad", std::string_view{"SAME_UPPER"})});
  });
  for (const bool is_output : {false, true})
    idle([=](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(1), dim::fixed(5)});
      const value_id v = b.node("Pad", {x, b.constant<std::int64_t>("pads", {6}, {0, 0, 1, 0, 0, 1})});
      b.output(is_output ? v : b.node("Relu", {v}));
      return b.node("Conv", {v, b.constant<float>("w", {1, 1, 2}, {1, 2})});
    });
}
