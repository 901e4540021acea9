#include <cameo/transform/rules/fusions.hpp>

#include "small_models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// x [2, 3, k] times dequantized weights of few bits [k, n]. Each member is a variant, some of which forbid fusion.
struct few_bit_product {
  dtype type = dtype::i4;
  std::int64_t k = 72, n = 5, block = 32, axis = 0;  // block 0: one scale per column, or with axis -9 one for all
  bool zeros = false, zeros_of_middle = false;
  bool gemm = false, bias = false, turned = false, read_elsewhere = false, codes_left = false;
  float alpha = 1;
};

/// A constant with the packed elements of a type.
value_id bytes_constant(builder& b, std::string_view name, dtype type, const extents& shape, std::uint8_t factor) {
  const std::size_t count = (std::size_t(shape.count()) * bits_of(type) + 7) / 8;
  auto* const kept = static_cast<std::uint8_t*>(b.whole().memory.allocate(count + 1, 64));
  for (std::size_t i = 0; i < count; ++i) kept[i] = std::uint8_t((i * 37 + 11) * factor);
  if (factor == 0) std::fill_n(kept, count, bits_of(type) == 4 ? 0x88 : 0x80);
  const value_id v = b.main().add_value(name);
  b.main().add_initializer(v, b.whole().memory.keep(value::tensor(type, shape, kept)));
  return v;
}

auto few_bit_model(const few_bit_product& p) {
  return [p] {
    builder b{25};
    const extents shape = p.turned ? extents{p.n, p.k} : extents{p.k, p.n};
    extents scales{};
    if (p.block != 0) {
      scales = shape;
      scales[std::size_t(p.axis)] = (scales[std::size_t(p.axis)] + p.block - 1) / p.block;
    } else if (p.axis != -9) {
      scales = {shape[std::size_t(p.axis)]};
    }
    std::vector<value_id> inputs{bytes_constant(b, "w", p.type, shape, 1),
                                 b.constant("scale", scales, numbers(std::size_t(scales.count()), 0.02f))};
    if (p.zeros) inputs.push_back(bytes_constant(b, "zero", p.type, scales, p.zeros_of_middle ? 0 : 3));
    std::vector<attribute> how;
    if (p.axis != -9) how.push_back(integer("axis", p.axis));
    if (p.block != 0) how.push_back(integer("block_size", p.block));
    value_id x = b.input("x", dtype::f32, {dim::fixed(p.gemm ? 6 : 2), dim::fixed(p.gemm ? p.k : 3), dim::fixed(p.k)});
    if (p.gemm) x = b.input("rows", dtype::f32, {b.symbol("m"), dim::fixed(p.k)});
    if (p.codes_left) {
      const value_id step = b.constant("step", {}, std::vector<float>{0.5f});
      const value_id zero = b.constant("middle", {}, std::vector<std::uint8_t>{128});
      x = b.node("DequantizeLinear", {b.input("codes", dtype::u8, {dim::fixed(2), dim::fixed(p.k)}), step, zero});
    }
    const value_id w = b.node("DequantizeLinear", inputs, how);
    std::vector<value_id> factors{x, w};
    if (p.bias) factors.push_back(b.constant("bias", {p.n}, numbers(std::size_t(p.n), 1)));
    if (!p.gemm) {
      b.output(b.node("MatMul", factors));
    } else {
      attribute alpha = integer("alpha", 0);
      alpha.kind = attribute_kind::f, alpha.f = p.alpha;
      b.output(b.node("Gemm", factors, {alpha, integer("transB", p.turned)}));
    }
    if (p.read_elsewhere) b.output(b.node("Relu", {w}));
    return b.take();
  };
}

session fused(const few_bit_product& p) {
  return check_fires<rules::few_bit_float_fusion>("DQMatMulNBitsFusion", few_bit_model(p));
}
void idle(const few_bit_product& p) {
  check_idle<rules::few_bit_float_fusion>("DQMatMulNBitsFusion", few_bit_model(p));
}

std::int64_t attribute_in(const session& s, std::string_view name) {
  const detail::graph_node* const n = first_of(s, "MatMulNBits");
  const attribute* const a = n ? detail::find_attribute(n->attributes, name) : nullptr;
  return a ? a->i : -1;
}

}  // namespace

TEST_CASE("a product with a dequantized constant of few bits becomes MatMulNBits") {
  for (const dtype type : {dtype::i2, dtype::u2, dtype::i4, dtype::u4, dtype::i8, dtype::u8})
    for (const bool zeros : {false, true})
      for (const std::int64_t block : {16, 32, 64}) {
        const session s = fused({.type = type, .block = block, .zeros = zeros});
        CHECK(nodes_of(s) == 1);
        CHECK(attribute_in(s, "bits") == std::int64_t(bits_of(type)));
        CHECK(attribute_in(s, "block_size") == block);
        CHECK(attribute_in(s, "accuracy_level") == 0);
      }
  for (const few_bit_product& p : {few_bit_product{.block = 0, .axis = 1},
                                   {.type = dtype::u8, .block = 0, .axis = 1, .zeros = true},
                                   {.block = 0, .axis = -9},
                                   {.type = dtype::u4, .block = 0, .axis = -9, .zeros = true},
                                   {.gemm = true},
                                   {.type = dtype::u4, .zeros = true, .gemm = true, .bias = true}}) {
    const session s = fused(p);
    CHECK(count_of(s, "MatMulNBits") == 1);
    CHECK(count_of(s, "DequantizeLinear") == 0);
  }
}

TEST_CASE("zero points that are MatMulNBits' default are left out") {
  const session some = fused({.type = dtype::u4, .zeros = true});
  CHECK(first_of(some, "MatMulNBits")->input_count == 4);
  const session none = fused({.type = dtype::u4, .zeros = true, .zeros_of_middle = true});
  CHECK(first_of(none, "MatMulNBits")->input_count == 3);
  CHECK(first_of(fused({}), "MatMulNBits")->input_count == 3);
}

TEST_CASE("products that MatMulNBits does not support stay") {
  idle({.block = 8});
  idle({.block = 16, .axis = 1});
  idle({.block = 0, .axis = 0});
  idle({.gemm = true, .turned = true});
  idle({.gemm = true, .alpha = 2});
  idle({.read_elsewhere = true});
  idle({.type = dtype::u8, .block = 0, .axis = -9, .codes_left = true});
  CHECK(count_of(fused({.codes_left = true}), "MatMulNBits") == 1);
}

TEST_CASE("session.qdq_matmulnbits_accuracy_level determines whether the other factor is quantized to bytes") {
  const auto level = [](std::string_view key, std::string_view text) {
    session_options options;
    options.config.emplace_back(key, text);
    const result<session> s = runtime<eps::cpu>{}.load(few_bit_model(few_bit_product{})(), options);
    REQUIRE_MESSAGE(s, s.error().words());
    return attribute_in(*s, "accuracy_level");
  };
  CHECK(level("session.qdq_matmulnbits_accuracy_level", "4") == 4);
  CHECK(level("session.qdq_matmulnbits_accuracy_level", "0") == 0);
  CHECK(level("session.qdq_matmulnbits_accuracy_level", "1") == 0);
  CHECK(level("session.disable_qdq_constant_folding", "1") == 4);
  CHECK(level("session.disable_qdq_constant_folding", "0") == 4);
  CHECK(level("session.disable_quant_qdq", "1") == -1);
}
