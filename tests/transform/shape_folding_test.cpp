#include <cameo/transform/rules/fusions.hpp>

#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

value_id whole_numbers(model_builder& b, std::vector<std::int64_t> all, bool scalar = false) {
  const extents shape = scalar ? extents{} : extents{std::int64_t(all.size())};
  return b.constant<std::int64_t>(b.main().unique_name("numbers"), shape, all);
}
/// The size of an axis, as exporters write it: a list with one element.
value_id size_of(model_builder& b, value_id x, std::int64_t axis) {
  const value_id picked = b.node("Gather", {b.node("Shape", {x}), whole_numbers(b, {axis}, true)});
  return b.node("Unsqueeze", {picked, whole_numbers(b, {0})});
}
value_id joined(model_builder& b, ids parts) { return b.node("Concat", parts, {integer("axis", 0)}); }

/// A model with the input x[batch, time, 12], whose output `body` makes.
template <class Body>
auto of_sequence(Body body, bool fixed = false) {
  return [=] {
    model_builder b;
    const dim batch = fixed ? dim::fixed(2) : b.symbol("batch"), time = fixed ? dim::fixed(5) : b.symbol("time");
    const value_id x = b.input("x", dtype::f32, {batch, time, dim::fixed(12)});
    b.output(body(b, x));
    return b.take();
  };
}
template <class Body>
session folds_shapes(std::string_view transform, Body body, bool fixed = false) {
  return check_fires<rules::shape_folding>(transform, of_sequence(body, fixed));
}
template <class Body>
void leaves_shapes(std::string_view transform, Body body, bool fixed = false) {
  check_idle<rules::shape_folding>(transform, of_sequence(body, fixed));
}
std::vector<std::int64_t> reshaped_to(const session& s) {
  const graph& g = s.graph().main();
  for (node_id n : g.order())
    if (g[n].op_type == "Reshape")
      if (const auto sizes = ints_of(g.constant_of(g.input(n, 1)))) return *sizes;
  return {};
}

}  // namespace

TEST_CASE("known shapes become constants") {
  const auto expanded = [](model_builder& b, value_id x) {
    const value_id parts = b.node("Div", {size_of(b, x, 2), whole_numbers(b, {4})});
    return b.node("Expand", {b.node("ReduceSum", {x}), joined(b, {size_of(b, x, 0), size_of(b, x, 1), parts})});
  };
  CHECK(nodes_of(folds_shapes("ShapeFolding", expanded, true)) == 2);
  folds_shapes("ShapeFolding", [](model_builder& b, value_id x) {  // only the last axis is known
    return b.node("Div", {x, b.node("Cast", {size_of(b, x, 2)}, {integer("to", 1)})});
  });
  leaves_shapes("ShapeFolding", [](model_builder& b, value_id x) {
    return b.node("Div", {x, b.node("Cast", {size_of(b, x, 1)}, {integer("to", 1)})});
  });
  leaves_shapes(
      "ShapeFolding",
      [](model_builder& b, value_id x) {  // a graph output
        b.output(b.node("Shape", {x}));
        return b.node("Neg", {x});
      },
      true);
  leaves_shapes(
      "ShapeFolding",
      [](model_builder& b, value_id x) {  // of a type that is not evaluated
        return b.node("Add", {x, b.node("Cast", {b.node("Cast", {x}, {integer("to", 7)})}, {integer("to", 1)})});
      },
      true);
}

TEST_CASE("Reshape to a computed shape becomes one to a constant shape, 0 for copied dims") {
  using list = std::vector<std::int64_t>;
  const auto to = [](auto shape) {
    return [=](model_builder& b, value_id x) { return b.node("Reshape", {x, shape(b, x)}); };
  };
  const session heads = folds_shapes("ReshapeFusion", to([](model_builder& b, value_id x) {
                                       return joined(b, {size_of(b, x, 0), size_of(b, x, 1), whole_numbers(b, {3, 4})});
                                     }));
  CHECK(reshaped_to(heads) == list{0, 0, 3, 4});
  CHECK(nodes_of(heads) == 1);
  const session written =
      folds_shapes("ReshapeFusion", to([](model_builder& b, value_id x) {
                     return joined(b, {size_of(b, x, 0), size_of(b, x, 1), whole_numbers(b, {-1, 4})});
                   }));
  CHECK(reshaped_to(written) == list{0, 0, -1, 4});
  const session rows =
      folds_shapes("ReshapeFusion", to([](model_builder& b, value_id x) {
                     return joined(b, {b.node("Mul", {size_of(b, x, 0), size_of(b, x, 1)}), whole_numbers(b, {12})});
                   }));
  CHECK(reshaped_to(rows) == list{-1, 12});
  // The transform leaves these shapes: two sizes that change places; a size that changes its place, beside a size that
  // is copied and may be 0; a shape in which 0 means a size of 0; a shape that is partly an input; and a constant
  // shape.
  leaves_shapes("ReshapeFusion", to([](model_builder& b, value_id x) {
                  return joined(b, {size_of(b, x, 1), size_of(b, x, 0), whole_numbers(b, {12})});
                }));
  leaves_shapes("ReshapeFusion", to([](model_builder& b, value_id x) {
                  return joined(b, {size_of(b, x, 0), whole_numbers(b, {12}), size_of(b, x, 1)});
                }));
  leaves_shapes("ReshapeFusion", [](model_builder& b, value_id x) {
    const value_id shape = joined(b, {size_of(b, x, 0), size_of(b, x, 1), whole_numbers(b, {3, 4})});
    return b.node("Reshape", {x, shape}, {integer("allowzero", 1)});
  });
  leaves_shapes("ReshapeFusion", [](model_builder& b, value_id x) {
    const value_id given = b.input("given", dtype::i64, {dim::fixed(0)});
    return b.node("Reshape", {x, joined(b, {given, whole_numbers(b, {0, 0, 12})})});
  });
  leaves_shapes("ReshapeFusion",
                [](model_builder& b, value_id x) { return b.node("Reshape", {x, whole_numbers(b, {0, 0, 12})}); });
}

TEST_CASE("a Reshape whose shape has other readers, or is a graph output, is rewritten and the shape stays") {
  const session s = folds_shapes("ReshapeFusion", [](model_builder& b, value_id x) {
    const value_id shape = joined(b, {size_of(b, x, 0), size_of(b, x, 1), whole_numbers(b, {3, 4})});
    b.output(shape);
    return b.node("Reshape", {x, shape});
  });
  CHECK(count_of(s, "Concat") == 1);
}

TEST_CASE("equal sizes are computed once, whatever tensor they are read from") {
  constexpr auto merging = "CommonShapeElimination";
  const auto twice = [](std::int64_t first, std::int64_t second, bool out = false) {
    return [=](model_builder& b, value_id x) {
      const value_id y = b.node("Exp", {x});
      const value_id one = size_of(b, x, first), two = size_of(b, y, second);
      if (out) b.output(one), b.output(two);
      return b.node("Expand",
                    {b.node("ReduceSum", {y}, {integer("keepdims", 1)}), joined(b, {one, two, whole_numbers(b, {2})})});
    };
  };
  const session s = folds_shapes(merging, twice(1, 1));
  CHECK(count_of(s, "Shape") == 1);
  CHECK(count_of(s, "Gather") == 1);
  const auto parts = [](std::int64_t first, std::int64_t second) {
    return [=](model_builder& b, value_id x) {
      const auto start = [&](std::int64_t at) {
        return b.node("Shape", {x}, {integer("start", at), integer("end", at + 1)});
      };
      return b.node("Expand",
                    {b.node("ReduceSum", {x}, {integer("keepdims", 1)}), joined(b, {start(first), start(second)})});
    };
  };
  folds_shapes(merging, parts(1, 1));
  leaves_shapes(merging, parts(0, 1));
  leaves_shapes(merging, [](model_builder& b, value_id x) {  // two graph outputs
    for (int i = 0; i < 2; ++i) b.output(b.node("Shape", {x}));
    return b.node("Neg", {x});
  });
  leaves_shapes(merging, [](model_builder& b, value_id x) {  // one is a scalar, one has another type
    const value_id shape = b.node("Shape", {x}, {integer("end", 1)});
    const value_id narrow = b.node("Cast", {shape}, {integer("to", 6)});
    const value_id both[] = {b.node("Cast", {narrow}, {integer("to", 1)}),
                             b.node("Cast", {b.node("Squeeze", {shape})}, {integer("to", 1)})};
    return b.node("Add", {b.node("Mul", {x, both[0]}), both[1]});
  });
}

TEST_CASE("a check whether a size is -1 is removed") {
  const auto expanded = [](bool sizes, std::int64_t sought) {
    return [=](model_builder& b, value_id x) {
      const value_id shape = joined(b, {size_of(b, x, 0), size_of(b, x, 1), whole_numbers(b, {sizes ? 12 : -1})});
      const value_id given = b.node("Equal", {shape, whole_numbers(b, {sought, sought, sought})});
      const value_id target = b.node("Where", {given, whole_numbers(b, {1, 1, 1}), shape});
      return b.node("Expand", {b.node("ReduceSum", {x, whole_numbers(b, {2})}, {integer("keepdims", 1)}), target});
    };
  };
  CHECK(count_of(folds_shapes("ShapeFolding", expanded(true, -1)), "Where") == 0);
  leaves_shapes("ShapeFolding", expanded(false, -1));
  leaves_shapes("ShapeFolding", expanded(true, 1));
}

TEST_CASE("shapes are folded in a provider's nodes, too") {
  const auto heads = [](std::int64_t first, std::int64_t second) {
    return of_sequence([=](model_builder& b, value_id x) {
      return b.node("Reshape", {x, joined(b, {size_of(b, x, first), size_of(b, x, second), whole_numbers(b, {3, 4})})});
    });
  };
  const session s = check_fires<rules::late_shape_folding>("ReshapeFusion", heads(0, 1));
  CHECK(nodes_of(s) == 1);
  check_idle<rules::late_shape_folding>("ReshapeFusion", heads(1, 0));
}
