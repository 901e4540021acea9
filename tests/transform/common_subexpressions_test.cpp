#include <cameo/transform/transform.hpp>

#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr auto merging = "CommonSubexpressionElimination";

template <class Body>
auto of_xy(Body body) {
  return [=] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(3)});
    const value_id y = b.input("y", dtype::f32, {dim::fixed(2), dim::fixed(3)});
    b.output(body(b, x, y));
    return b.take();
  };
}
template <class Body>
session merges(Body body) {
  return check_fires<rules::common_subexpressions>(merging, of_xy(body));
}
template <class Body>
void keeps(Body body) {
  check_idle<rules::common_subexpressions>(merging, of_xy(body));
}
value_id sum(model_builder& b, value_id x, value_id y) { return b.node("Add", {x, y}); }

}  // namespace

TEST_CASE("equal expressions become one, however deep") {
  const session s = merges([](model_builder& b, value_id x, value_id y) {
    ids ends;
    for (int i = 0; i < 3; ++i) {
      const value_id soft = b.node("Softmax", {b.node("Mul", {x, y})}, {integer("axis", 1)});
      ends.push_back(b.node("Exp", {soft}));
    }
    return b.node("Sum", ends);
  });
  CHECK(nodes_of(s) == 4);
}

TEST_CASE("nodes with inputs in another order, or other attributes, types or versions, are not equal") {
  keeps([](model_builder& b, value_id x, value_id y) { return sum(b, b.node("Sub", {x, y}), b.node("Sub", {y, x})); });
  keeps([](model_builder& b, value_id x, value_id) {
    return sum(b, b.node("Softmax", {x}, {integer("axis", 0)}), b.node("Softmax", {x}, {integer("axis", 1)}));
  });
  keeps([](model_builder& b, value_id x, value_id) {
    return sum(b, b.node("LeakyRelu", {x}, {attribute_of("alpha", 0.1f)}),
               b.node("LeakyRelu", {x}, {attribute_of("alpha", 0.2f)}));
  });
  keeps([](model_builder& b, value_id x, value_id) {  // opset 12 softmax flattens
    return sum(b, b.node("Softmax", {x}, {integer("axis", 0)}), b.node("Softmax", {x}, {integer("axis", 0)}, "", 12));
  });
  keeps([](model_builder& b, value_id x, value_id) {
    const value_id whole = b.node("Cast", {x}, {integer("to", 7)}), half = b.node("Cast", {x}, {integer("to", 6)});
    return b.node("Cast", {b.node("Add", {whole, b.node("Cast", {half}, {integer("to", 7)})})}, {integer("to", 1)});
  });
}

TEST_CASE("random nodes and nodes before quantized nodes are not merged") {
  const auto make = [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(4)});
    b.output(b.node("Sub", {b.node("RandomNormalLike", {x}), b.node("RandomNormalLike", {x})}));
    return b.take();
  };
  CHECK(count_of(*rewritten<rules::common_subexpressions>(make()), "RandomNormalLike") == 2);
  check_idle<rules::common_subexpressions>(merging, [] {
    model_builder b;
    const value_id q = b.input("q", dtype::u8, {dim::fixed(4)}), scale = b.constant<float>("scale", {}, {0.5f});
    const value_id first = b.node("DequantizeLinear", {q, scale}), again = b.node("DequantizeLinear", {q, scale});
    b.output(b.node("Add", {first, again}));
    return b.take();
  });
}

TEST_CASE("a graph output keeps its name; two of them stay two nodes") {
  const session s = merges([](model_builder& b, value_id x, value_id y) {
    const value_id inner = b.node("Tanh", {sum(b, x, y)});
    b.output(sum(b, x, y));
    return inner;
  });
  CHECK(nodes_of(s) == 2);
  keeps([](model_builder& b, value_id x, value_id y) {
    b.output(sum(b, x, y));
    return sum(b, x, y);
  });
}

TEST_CASE("a node with fewer outputs is merged into an equal one with all") {
  const auto normalized = [](model_builder& b, value_id x, std::size_t outputs) {
    ids made;
    for (std::size_t i = 0; i < outputs; ++i) made.push_back(b.main().add_value(b.main().unique_name("part")));
    const value_id scale = b.main().find("scale");
    b.main().add_node({"norm", "", "LayerNormalization", {}, {}, 17, ids{x, scale}, made});
    return made;
  };
  const auto with = [normalized](std::size_t first, std::size_t second) {
    return [=](model_builder& b, value_id x, value_id) {
      b.constant<float>("scale", {3}, {1, 2, 3});
      const ids one = normalized(b, x, first), two = normalized(b, x, second);
      return sum(b, sum(b, one.back(), two.back()), sum(b, one.front(), two.front()));
    };
  };
  CHECK(count_of(merges(with(2, 2)), "LayerNormalization") == 1);
  CHECK(count_of(merges(with(2, 1)), "LayerNormalization") == 1);
  keeps(with(1, 2));
}

TEST_CASE("equal small constants become one, unless they are outputs, inputs, large, or differ in type or shape") {
  constexpr auto sharing = "ConstantSharing";
  const auto with = [](auto second) {
    return of_xy([second](model_builder& b, value_id x, value_id) {
      const value_id c = b.constant<float>("c", {3}, {1, 2, 3});
      return sum(b, sum(b, x, c), second(b, x));
    });
  };
  const auto same = [](model_builder& b) { return b.constant<float>("d", {3}, {1, 2, 3}); };
  const session s = check_fires<rules::common_subexpressions>(
      sharing, with([&](model_builder& b, value_id x) { return b.node("Mul", {x, same(b)}); }));
  CHECK(s.graph().main().initializers().size() == 1);
  check_idle<rules::common_subexpressions>(sharing, with([&](model_builder& b, value_id x) {
                                             const value_id d = same(b);
                                             b.output(d);
                                             return b.node("Mul", {x, d});
                                           }));
  check_idle<rules::common_subexpressions>(sharing, with([&](model_builder& b, value_id x) {
                                             const value_id d = same(b);
                                             b.main().add_input(d);
                                             return b.node("Mul", {x, d});
                                           }));
  for (const float third : {-3.f, 4.f})
    check_idle<rules::common_subexpressions>(sharing, with([third](model_builder& b, value_id x) {
                                               return b.node("Mul", {x, b.constant<float>("d", {3}, {1, 2, third})});
                                             }));
  check_idle<rules::common_subexpressions>(sharing, with([](model_builder& b, value_id x) {
                                             return b.node("Mul", {x, b.constant<float>("d", {1, 3}, {1, 2, 3})});
                                           }));
  check_idle<rules::common_subexpressions>(sharing, with([](model_builder& b, value_id x) {
                                             const value_id d = b.constant<std::int32_t>(
                                                 "d", {3}, {0x3F800000, 0x40000000, 0x40400000});  // the bytes of the
                                                                                                   // first constant
                                             return b.node("Mul", {x, b.node("Cast", {d}, {integer("to", 1)})});
                                           }));
  check_idle<rules::common_subexpressions>(sharing, [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(8192)});
    const value_id c = b.constant("c", {8192}, ramp(8192)), d = b.constant("d", {8192}, ramp(8192));
    b.output(b.node("Add", {b.node("Mul", {x, c}), d}));
    return b.take();
  });
}

TEST_CASE("a Constant node becomes an initializer, and is then shared, unless it is a graph output") {
  const auto with = [](bool is_output) {
    return of_xy([is_output](model_builder& b, value_id x, value_id y) {
      const value_id c = b.constant<float>("c", {}, {2}),
                     made = b.node("Constant", {}, {attribute_of("value_float", 2.f)});
      if (is_output) b.output(made);
      return sum(b, b.node("Mul", {x, c}), b.node("Mul", {y, made}));
    });
  };
  const session s = check_fires<rules::common_subexpressions>("ConstantToInitializer", with(false));
  CHECK(count_of(s, "Constant") == 0);
  CHECK(s.graph().main().initializers().size() == 1);
  check_idle<rules::common_subexpressions>("ConstantToInitializer", with(true));
  check_idle<rules::common_subexpressions>("ConstantToInitializer", [] {  // a constant of another kind
    model_builder b;
    const value_id text = b.node("Constant", {}, {attribute_of("value_string", std::string_view{"a"})});
    b.output(b.node("Equal", {text, b.node("Identity", {text})}, {}, "", 19));
    b.output(b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(2)})}));
    return b.take();
  });
}
