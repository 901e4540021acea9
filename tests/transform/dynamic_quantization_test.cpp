#include <cameo/transform/rules/fusions.hpp>

#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

enum class bias_form { none, columns, row, one, computed };

/// A chain as exporters write it, with x [2, n, 8] and weights [8, 6]. Each member is a variant, some of which forbid
/// fusion.
struct chain {
  bias_form bias = bias_form::columns;
  bool per_column = false, zero_points = true, left_zero = true;
  bool constant_weights = true, swapped = false, scales_swapped = false, bias_first = false;
  std::size_t products = 1;  // number of products with the quantized x
  bool quantizes = true;     // false: x is uint8, and its scale and zero point are inputs
  bool scale_read = false, cast_read = false, product_read = false;
  std::int64_t cast_to = 1;
  extents left_scale{};  // shape of an input
  extents right_zero{};  // empty: as the scale
};

ids quantized(model_builder& b, value_id x) {
  graph& g = b.main();
  const ids out{g.add_value("x_codes"), g.add_value("x_scale"), g.add_value("x_zero")};
  g.add_node({"quantize", "", "DynamicQuantizeLinear", {}, {}, 17, ids{x}, out, {}});
  return out;
}

std::vector<std::int8_t> weights(std::size_t count) {
  std::vector<std::int8_t> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = std::int8_t(i * 37);
  return made;
}

value_id product(model_builder& b, const chain& c, const ids& x, std::size_t i) {
  const std::string n = std::to_string(i);
  const extents columns = c.per_column ? extents{6} : extents{};
  const value_id w = c.constant_weights ? b.constant("w" + n, {8, 6}, weights(48))
                                        : b.input("w" + n, dtype::i8, {dim::fixed(8), dim::fixed(6)});
  const value_id scale =
      b.constant("scale" + n, columns, numbers(std::size_t(columns.count()), 0.02f + 0.01f * float(i)));
  ids factors{x[0], w};
  if (c.left_zero || c.zero_points) factors.push_back(c.left_zero ? x[2] : value_id::none);
  const extents zeros = c.right_zero.rank() ? c.right_zero : columns;
  if (c.zero_points) factors.push_back(b.constant("zero" + n, zeros, weights(std::size_t(zeros.count()))));
  const value_id sums = b.node("Cast", {b.node("MatMulInteger", factors)}, {integer("to", c.cast_to)});
  const value_id to = c.scales_swapped ? b.node("Mul", {scale, x[1]}) : b.node("Mul", {x[1], scale});
  if (c.cast_read) b.output(sums);
  const value_id y = c.swapped ? b.node("Mul", {to, sums}) : b.node("Mul", {sums, to});
  if (c.product_read) b.output(y);
  if (c.bias == bias_form::none) return y;
  const extents shape = c.bias == bias_form::row ? extents{1, 6} : c.bias == bias_form::one ? extents{1} : extents{6};
  const value_id added = c.bias == bias_form::computed
                             ? b.input("bias" + n, dtype::f32, {dim::fixed(6)})
                             : b.constant("bias" + n, shape, numbers(std::size_t(shape.count()), 1));
  return c.bias_first ? b.node("Add", {added, y}) : b.node("Add", {y, added});
}

auto model_of_chain(const chain& c) {
  return [c] {
    builder b;
    ids x;
    if (c.quantizes) {
      x = quantized(b, b.input("x", dtype::f32, {dim::fixed(2), b.symbol("n"), dim::fixed(8)}));
    } else {
      std::vector<dim> scale;
      for (const std::int64_t d : c.left_scale) scale.push_back(dim::fixed(d));
      x = {b.input("x", dtype::u8, {dim::fixed(2), dim::fixed(3), dim::fixed(8)}),
           b.input("x_scale", dtype::f32, scale), b.input("x_zero", dtype::u8, {})};
    }
    if (c.scale_read) b.output(x[1]);
    for (std::size_t i = 0; i < c.products; ++i) b.output(product(b, c, x, i));
    return b.take();
  };
}

session fused(const chain& c) {
  return check_fires<rules::dynamic_quantization_fusion>("MatMulIntegerToFloatFusion", model_of_chain(c));
}
void idle(const chain& c) {
  check_idle<rules::dynamic_quantization_fusion>("MatMulIntegerToFloatFusion", model_of_chain(c));
}

}  // namespace

TEST_CASE("a quantized product becomes one node, with the quantization before it and the bias after it") {
  for (const chain& c : {chain{},
                         {.bias = bias_form::none},
                         {.bias = bias_form::row},
                         {.per_column = true},
                         {.zero_points = false},
                         {.constant_weights = false},
                         {.swapped = true},
                         {.scales_swapped = true},
                         {.bias_first = true},
                         {.per_column = true, .swapped = true, .scales_swapped = true, .bias_first = true}}) {
    const session s = fused(c);
    CHECK(nodes_of(s) == 1);
    CHECK(count_of(s, "DynamicQuantizeMatMul") == 1);
    CHECK(changes(s, "DynamicQuantizeMatMulFusion") == 1);
  }
}

TEST_CASE("a bias of another shape is added afterwards") {
  for (const bias_form form : {bias_form::one, bias_form::computed}) {
    const session s = fused({.bias = form});
    CHECK(count_of(s, "DynamicQuantizeMatMul") == 1);
    CHECK(count_of(s, "Add") == 1);
  }
  const session s = fused({.product_read = true});
  CHECK(count_of(s, "Add") == 1);
}

TEST_CASE("a quantization with several readers is done once") {
  const session shared = fused({.products = 3});
  CHECK(count_of(shared, "DynamicQuantizeLinear") == 1);
  CHECK(count_of(shared, "MatMulIntegerToFloat") == 3);
  CHECK(nodes_of(shared) == 4);
  const session read = fused({.scale_read = true});
  CHECK(count_of(read, "MatMulIntegerToFloat") == 1);
  const session other_zero = fused({.left_zero = false});
  CHECK(count_of(other_zero, "MatMulIntegerToFloat") == 1);
  CHECK(count_of(fused({.quantizes = false}), "MatMulIntegerToFloat") == 1);
  CHECK(count_of(fused({.quantizes = false, .left_scale = {1}}), "MatMulIntegerToFloat") == 1);
}

TEST_CASE("a product without a single scale stays") {
  idle({.cast_read = true});
  idle({.quantizes = false, .left_scale = {3, 1}});
  idle({.per_column = true, .right_zero = {1, 6}});
}
