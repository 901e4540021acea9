#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

using perm = std::vector<std::int64_t>;
const perm to_last{0, 2, 3, 1}, to_first{0, 3, 1, 2};

value_id transposed(builder& b, value_id v, const perm& p) { return b.node("Transpose", {v}, {list_of("perm", p)}); }

/// An input [n, 3, 4, 5], channels first.
value_id picture(builder& b, std::string_view name = "x") {
  return b.input(name, dtype::f32, {b.symbol("n"), dim::fixed(3), dim::fixed(4), dim::fixed(5)});
}
value_id ints(builder& b, std::string_view name, std::vector<std::int64_t> all) {
  const auto count = std::int64_t(all.size());
  return b.constant<std::int64_t>(name, {count}, std::move(all));
}

/// Checks that the rewritten model has `count` transposes.
template <class Make>
session ends_with(std::size_t count, Make make, std::int64_t opset = 17) {
  session s = check_fires<rules::transposes>("TransposeOptimizer", model_of(make, opset));
  CHECK(count_of(s, "Transpose") == count);
  return s;
}
template <class Make>
void leaves_transposes(Make make, std::int64_t opset = 17) {
  check_idle<rules::transposes>("TransposeOptimizer", model_of(make, opset));
}

/// Nodes between a transpose to channels last and one back; they work on [n, 4, 5, 3].
template <class Inside>
session sandwich(Inside inside, std::int64_t opset = 17) {
  return ends_with(
      0,
      [&](builder& b) {
        const value_id v = b.node("Neg", {transposed(b, picture(b), to_last)});
        b.output(b.node("Relu", {transposed(b, inside(b, v), to_first)}));
      },
      opset);
}

}  // namespace

TEST_CASE("two transposes in a row are one, or none") {
  ends_with(1, [](builder& b) {
    b.output(b.node("Relu", {transposed(b, transposed(b, picture(b), to_last), {0, 2, 1, 3})}));
  });
  ends_with(
      0, [](builder& b) { b.output(b.node("Relu", {transposed(b, transposed(b, picture(b), to_last), to_first)})); });
  ends_with(0, [](builder& b) {
    const value_id x = b.node("Neg", {picture(b)});
    b.output(transposed(b, transposed(b, x, to_last), to_first));
  });
  ends_with(0, [](builder& b) {  // no perm: reversed
    const value_id x = b.input("x", dtype::i32, {dim::fixed(2), dim::fixed(3), b.symbol("n")});
    b.output(b.node("Neg", {b.node("Transpose", {b.node("Transpose", {x})})}));
  });
}

TEST_CASE("transposes that cannot be removed stay") {
  SUBCASE("a value between them has other readers") {
    leaves_transposes([](builder& b) {
      const value_id v = transposed(b, picture(b), to_last);
      b.output(transposed(b, v, {0, 2, 1, 3}));
      b.output(b.node("Softmax", {v}));
    });
  }
  SUBCASE("a graph output between") {
    leaves_transposes([](builder& b) {
      const value_id v = transposed(b, picture(b), to_last);
      b.output(v);
      b.output(transposed(b, v, {0, 2, 1, 3}));
    });
  }
  SUBCASE("a single one before elementwise operations") {
    leaves_transposes([](builder& b) { b.output(b.node("Relu", {transposed(b, picture(b), to_last)})); });
  }
  SUBCASE("an operator that depends on the axis order") {
    leaves_transposes([](builder& b) {
      const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(4), dim::fixed(4), dim::fixed(4)});
      const value_id v = b.node("MaxPool", {transposed(b, x, to_last)}, {list_of("kernel_shape", {2, 2})});
      b.output(transposed(b, v, to_first));
    });
  }
  SUBCASE("an unknown rank") {
    leaves_transposes([](builder& b) {
      const value_id shape = b.input("shape", dtype::i64, {dim::fixed(4)});
      const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
      b.main();
      b.output(b.node("Identity", {shape}));
      b.output(b.node("Relu", {transposed(b, b.node("Identity", {x}), {0})}));
    });
  }
  SUBCASE("a softmax over all later axes") {  // before opset 13
    leaves_transposes(
        [](builder& b) {
          const value_id v = b.node("Softmax", {transposed(b, picture(b), to_last)}, {builder::integer("axis", 1)});
          b.output(transposed(b, v, to_first));
        },
        11);
  }
}

TEST_CASE("a residual network with channels last inside has no transposes afterwards") {
  const session s = ends_with(0, [](builder& b) {
    const auto conv = [&](value_id v, const char* w) {
      const value_id weight = b.constant<float>(w, {3, 3, 1, 1}, numbers(9));
      return transposed(b, b.node("Conv", {transposed(b, v, to_first), weight}), to_last);
    };
    value_id v = transposed(b, b.node("Neg", {picture(b)}), to_last);
    for (const char* w : {"p", "q", "r"}) {
      const value_id scale = b.constant<float>(std::string{w} + "s", {3}, {1, 2, 3});
      const value_id inner = b.node("Relu", {b.node("Mul", {conv(v, w), scale})});
      v = b.node("Add", {v, b.node("Relu", {inner})});
    }
    b.output(b.node("ReduceMean", {v}, {list_of("axes", {1, 2}), builder::integer("keepdims", 0)}));
  });
  CHECK(count_of(s, "Conv") == 3);
}

TEST_CASE("values with other readers, and graph outputs, keep their layout") {
  const session s = ends_with(1, [](builder& b) {
    const value_id v = b.node("Relu", {transposed(b, picture(b), to_last)});
    b.output(v);
    b.output(b.node("Exp", {transposed(b, v, to_first)}));
    b.output(transposed(b, b.node("Tanh", {v}), to_first));
  });
  CHECK(s.outputs()[0].name == "Relu_1_out");
}

TEST_CASE("a transposed graph output keeps its name") {
  const session s = ends_with(0, [](builder& b) {
    const value_id v = b.node("Relu", {transposed(b, picture(b), to_last)});
    b.output(transposed(b, v, to_first));
    b.output(b.node("Neg", {transposed(b, v, to_first)}));
  });
  CHECK(s.outputs()[0].name == "Transpose_2_out");
}

TEST_CASE("every operator that supports another order") {
  SUBCASE("two operands, stretched constants") {
    sandwich([](builder& b, value_id v) {
      v = b.node("Add", {v, b.constant<float>("c", {3}, {1, 2, 3})});
      v = b.node("Mul", {b.constant<float>("d", {4, 1, 1}, {1, 2, 3, 4}), v});
      v = b.node("Max", {v, b.constant<float>("e", {1, 1, 5, 3}, numbers(15))});
      return b.node("Sub", {v, b.constant<float>("f", {}, {2})});
    });
  }
  SUBCASE("a stretched vector that is not a constant") {
    for (const std::int64_t opset : {11, 17})
      sandwich([](builder& b, value_id v) { return b.node("Add", {v, b.input("c", dtype::f32, {dim::fixed(3)})}); },
               opset);
  }
  SUBCASE("Where, Cast, comparisons") {
    sandwich([](builder& b, value_id v) {
      const value_id larger = b.node("Greater", {v, b.constant<float>("c", {3}, {0, 0.5f, 1})});
      return b.node("Where", {larger, v, b.node("Cast", {larger}, {builder::integer("to", 1)})});
    });
  }
  SUBCASE("Swish and CastLike") {
    sandwich([](builder& b,
                value_id v) { return b.node("Swish", {b.node("CastLike", {v, b.constant<float>("like", {}, {0})})}); },
             24);
  }
  SUBCASE("Clip and PRelu") {
    sandwich([](builder& b, value_id v) {
      v = b.node("Clip", {v, b.constant<float>("c", {}, {-1}), b.constant<float>("d", {}, {1})});
      return b.node("PRelu", {v, b.constant<float>("slope", {1, 1, 3}, {0.1f, 0.2f, 0.3f})});
    });
  }
  SUBCASE("Concat and Slice") {
    sandwich([](builder& b, value_id v) {
      const value_id w = b.node("Concat", {v, b.node("Exp", {v})}, {builder::integer("axis", -1)});
      return b.node("Slice", {w, ints(b, "from", {1, 1}), ints(b, "to", {100, 5}), ints(b, "axes", {1, -1})});
    });
    sandwich([](builder& b, value_id v) {
      return b.node("Slice", {v, ints(b, "from", {0, 1, 2}), ints(b, "to", {100, 3, 5})});
    });
    sandwich(
        [](builder& b, value_id v) {
          return b.node("Slice", {v}, {list_of("starts", {1, 0}), list_of("ends", {3, 2}), list_of("axes", {1, 3})});
        },
        9);
  }
  SUBCASE("Softmax, LogSoftmax, Tile") {
    sandwich([](builder& b, value_id v) {
      v = b.node("Softmax", {v}, {builder::integer("axis", -1)});
      v = b.node("LogSoftmax", {v}, {builder::integer("axis", 1)});
      return b.node("Tile", {v, ints(b, "repeats", {1, 2, 1, 3})});
    });
  }
  SUBCASE("Pad") {
    for (const std::int64_t opset : {13, 19})
      sandwich([](builder& b, value_id v) { return b.node("Pad", {v, ints(b, "pads", {0, 1, 0, 2, 0, 3, 1, 0})}); },
               opset);
    sandwich(
        [](builder& b, value_id v) {
          return b.node("Pad",
                        {v, ints(b, "pads", {1, 2, 3, 0}), b.constant<float>("c", {}, {7}), ints(b, "axes", {1, -1})});
        },
        19);
    sandwich([](builder& b, value_id v) { return b.node("Pad", {v}, {list_of("pads", {0, 1, 0, 2, 0, 3, 1, 0})}); },
             10);
  }
  SUBCASE("reductions that keep their axes") {
    sandwich([](builder& b, value_id v) {
      v = b.node("Sub", {v, b.node("ReduceMean", {v}, {list_of("axes", {1, 2})})});
      return b.node("Div", {v, b.node("ReduceSum", {b.node("Exp", {v}), ints(b, "axes", {-1})})});
    });
    sandwich([](builder& b, value_id v) { return b.node("Sub", {v, b.node("ReduceMax", {v})}); });
  }
  SUBCASE("quantization of channels") {
    sandwich([](builder& b, value_id v) {
      const value_id scale = b.constant<float>("scale", {3}, {0.1f, 0.2f, 0.3f});
      const value_id zero = b.constant<std::uint8_t>("zero", {3}, {100, 110, 120});
      v = b.node("QuantizeLinear", {v, scale, zero}, {builder::integer("axis", 3)});
      return b.node("DequantizeLinear", {v, scale, zero}, {builder::integer("axis", -1)});
    });
  }
  SUBCASE("Unsqueeze, then Squeeze") {
    for (const std::int64_t opset : {11, 17})
      sandwich(
          [opset](builder& b, value_id v) {
            const auto with_axes = [&](const char* op, value_id of, std::int64_t axis) {
              if (opset < 13) return b.node(op, {of}, {list_of("axes", {axis})});
              return b.node(op, {of, ints(b, op, {axis})});
            };
            return with_axes("Squeeze", b.node("Exp", {with_axes("Unsqueeze", v, 2)}), 2);
          },
          opset);
  }
}

TEST_CASE("Split's parts and ArgMax") {
  const session s = ends_with(0, [](builder& b) {
    const value_id v = transposed(b, picture(b), to_last);
    const value_id left = b.main().add_value("left"), right = b.main().add_value("right");
    b.main().add_node({"split",
                       "",
                       "Split",
                       {},
                       {},
                       17,
                       std::vector<value_id>{v, ints(b, "sizes", {1, 2})},
                       std::vector<value_id>{left, right},
                       std::vector<attribute>{builder::integer("axis", 3)}});
    b.output(b.node("Neg", {transposed(b, left, to_first)}));
    b.output(b.node("Neg", {transposed(b, right, to_first)}));
    b.output(b.node("ArgMax", {v}, {builder::integer("axis", 3), builder::integer("keepdims", 0)}));
  });
  CHECK(detail::find_attribute(first_of(s, "Split")->attributes, "axis")->i == 1);
}

TEST_CASE("a Shape between the transposes") {
  const session s = ends_with(0, [](builder& b) {
    const value_id v = b.node("Relu", {transposed(b, picture(b), to_last)});
    b.output(b.node("Shape", {v}));
    b.output(b.node("Neg", {transposed(b, v, to_first)}));
  });
  CHECK(count_of(s, "Gather") == 1);
}

TEST_CASE("regions stay where the number of transposes would not decrease") {
  SUBCASE("one removed, one added") {
    leaves_transposes([](builder& b) {
      const value_id v =
          b.node("Add", {transposed(b, picture(b), to_last),
                         b.input("y", dtype::f32, {dim::fixed(1), dim::fixed(4), dim::fixed(5), dim::fixed(3)})});
      b.output(transposed(b, v, {0, 2, 1, 3}));
    });
  }
  SUBCASE("two graph outputs that would be one value") {
    leaves_transposes([](builder& b) {
      const value_id v = b.node("Add", {picture(b, "x"), picture(b, "y")});
      b.output(transposed(b, v, to_last));
      b.output(transposed(b, v, to_last));
    });
  }
  SUBCASE("a vector stretched over axes that would be separated") {
    leaves_transposes([](builder& b) {
      const value_id v = b.node(
          "Add", {transposed(b, picture(b), {0, 3, 2, 1}), b.input("y", dtype::f32, {dim::fixed(4), dim::fixed(3)})});
      b.output(transposed(b, v, {0, 3, 2, 1}));
    });
  }
  SUBCASE("a vector stretched over axes that would be separated, one of size 1") {
    leaves_transposes([](builder& b) {
      const value_id v = b.node(
          "Add", {transposed(b, picture(b), {0, 3, 2, 1}), b.input("y", dtype::f32, {dim::fixed(1), dim::fixed(3)})});
      b.output(transposed(b, v, {0, 3, 2, 1}));
    });
  }
  SUBCASE("pads that are an input") {
    leaves_transposes([](builder& b) {
      const value_id pads = b.input("pads", dtype::i64, {dim::fixed(8)});
      const value_id v = b.node("Pad", {transposed(b, picture(b), to_last), pads});
      b.output(transposed(b, v, to_first));
    });
  }
}

TEST_CASE("one transpose after the operation replaces those of both operands") {
  ends_with(1, [](builder& b) {
    const value_id v =
        b.node("Add", {transposed(b, picture(b, "x"), to_last), transposed(b, picture(b, "y"), to_last)});
    b.output(b.node("Relu", {v}));
  });
  ends_with(1, [](builder& b) {  // one transpose before both readers
    const value_id v = b.node("Relu", {picture(b)});
    b.output(transposed(b, b.node("Exp", {v}), to_last));
    b.output(transposed(b, b.node("Neg", {v}), to_last));
  });
}

TEST_CASE("a transpose of axes of size 1 is a Reshape") {
  const session s = ends_with(0, [](builder& b) {
    const value_id x = b.input("x", dtype::f32, {b.symbol("n"), dim::fixed(4), dim::fixed(5), dim::fixed(1)});
    b.output(b.node("MaxPool", {transposed(b, x, to_first)}, {list_of("kernel_shape", {2, 2})}));
  });
  CHECK(count_of(s, "Reshape") == 1);
  leaves_transposes([](builder& b) {  // two unknown sizes, which no Reshape could have
    const value_id x = b.input("x", dtype::f32, {b.symbol("n"), b.symbol("m"), b.symbol("k"), dim::fixed(1)});
    b.output(b.node("MaxPool", {transposed(b, x, to_first)}, {list_of("kernel_shape", {2, 2})}));
  });
}

TEST_CASE("a value that a subgraph reads keeps its layout") {
  const auto make = model_of([](builder& b) {
    const value_id v = b.node("Relu", {transposed(b, picture(b), to_last)});
    const value_id cond =
        b.node("Cast", {b.node("ReduceSum", {v}, {builder::integer("keepdims", 0)})}, {builder::integer("to", 9)});
    model& m = b.whole();
    std::vector<graph*> bodies;
    for (const char* op : {"Neg", "Exp"}) {
      graph& g = m.add_graph(&b.main());
      const value_id made = g.add_value("made");
      g.add_node({op, "", op, {}, {}, 17, std::vector<value_id>{g.capture_of(v)}, std::vector<value_id>{made}});
      g.add_output(made);
      bodies.push_back(&g);
    }
    attribute then_branch{"then_branch", attribute_kind::g}, else_branch{"else_branch", attribute_kind::g};
    else_branch.i = 1;
    const value_id out = b.main().add_value("out");
    b.main().add_node({"if",
                       "",
                       "If",
                       {},
                       {},
                       17,
                       std::vector<value_id>{cond},
                       std::vector<value_id>{out},
                       std::vector<attribute>{then_branch, else_branch},
                       bodies});
    b.output(out);
    b.output(b.node("Exp", {transposed(b, v, to_first)}));
    b.output(b.node("Neg", {transposed(b, v, to_first)}));
  });
  CHECK(count_of(check_fires<rules::transposes>("TransposeOptimizer", make), "Transpose") == 1);
}

TEST_CASE("ReshapePushThrough: a Reshape moves behind elementwise nodes, to the next Reshape") {
  const auto make = model_of([](builder& b) {
    value_id v = b.node("Reshape", {b.node("Softmax", {picture(b)}), ints(b, "flat", {-1, 5})});
    v = b.node("Clip", {b.node("Relu", {v}), b.constant<float>("low", {}, {0.1f})});
    b.output(b.node("Reshape", {v, ints(b, "back", {-1, 3, 4, 5})}));
  });
  const session s = check_fires<rules::transposes>("ReshapePushThrough", make);
  CHECK(s.graph().main()[s.graph().main().order()[1]].op_type == "Relu");
  CHECK(count_of(s, "Reshape") == 2);
}

TEST_CASE("ReshapePushThrough keeps other nodes") {
  const auto still = [](auto inside) {
    check_idle<rules::transposes>("ReshapePushThrough", model_of([=](builder& b) {
                                    const value_id v = b.node("Reshape", {picture(b), ints(b, "flat", {-1, 5})});
                                    b.output(b.node("Reshape", {inside(b, v), ints(b, "back", {-1, 3, 4, 5})}));
                                  }));
  };
  still([](builder& b, value_id v) { return b.node("Softmax", {v}); });
  still([](builder& b, value_id v) { return b.node("Add", {v, b.constant<float>("c", {5}, {1, 2, 3, 4, 5})}); });
  still([](builder& b, value_id v) {  // another reader
    b.output(b.node("Exp", {v}));
    return b.node("Relu", {v});
  });
  still([](builder& b, value_id v) {  // a graph output
    const value_id w = b.node("Relu", {v});
    b.output(w);
    return w;
  });
}
