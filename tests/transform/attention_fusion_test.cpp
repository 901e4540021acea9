#include <cameo/transform/rules/fusions.hpp>

#include "rule_rig.hpp"

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

enum class mask { none, padding, bias, row_bias, vector, causal, causal_copy, hidden };
enum class key { in_one, swap_last, by_rank_3 };

/// A spelling of an attention of 2 heads of size 4, with S queries and keys, or S keys after a past of 3.
struct attention_spelling {
  mask hides = mask::none;
  key turned = key::in_one;
  bool scale_both = false, scale_output = true, guard = false, past = false, fused_parts = false, merge = true;
  bool read_scores = false, read_probabilities = false, read_shape = false, wrong_heads = false, rotated = false;
  bool bias_of_present = false;
  std::int64_t softmax_axis = -1, batch_of_keys = 0;
  dtype type = dtype::f32;
};

struct attention : model_builder {
  static constexpr std::int64_t heads = 2, size = 4, hidden = 8;
  const attention_spelling s;
  dim batch, length;
  int made = 0;

  explicit attention(const attention_spelling& given) : s{given}, batch{symbol("batch")}, length{symbol("length")} {}

  std::string next(std::string_view stem) { return std::string{stem} + std::to_string(made++); }
  value_id number(float f) {
    if (s.type == dtype::f64) return constant<double>(next("c"), {}, {double(f)});
    return constant<float>(next("c"), {}, {f});
  }
  value_id ints(std::vector<std::int64_t> all) {
    return constant<std::int64_t>(next("i"), {std::int64_t(all.size())}, all);
  }
  value_id index(std::int64_t i) { return constant<std::int64_t>(next("i"), {}, {i}); }
  value_id turn(value_id v, std::vector<std::int64_t> perm) {
    return node("Transpose", {v}, {attribute_of("perm", perm)});
  }
  value_id size_of(value_id v, std::int64_t axis) { return node("Gather", {node("Shape", {v}), index(axis)}); }
  value_id as_vector(value_id v) { return node("Unsqueeze", {v, ints({0})}); }

  value_id split(value_id v) {
    const value_id target =
        node("Concat", {as_vector(size_of(v, 0)), as_vector(size_of(v, 1)), ints({heads, size})}, {integer("axis", 0)});
    return node("Reshape", {v, target});
  }
  value_id input_of(std::string_view name, bool keys = false) {
    return input(name, s.type,
                 {keys && s.batch_of_keys ? dim::fixed(s.batch_of_keys) : batch, length, dim::fixed(hidden)});
  }
  value_id joined(std::string_view name, value_id now) {
    const value_id before = input(name, s.type, {batch, dim::fixed(heads), dim::fixed(3), dim::fixed(size)});
    const value_id all = node("Concat", {before, now}, {integer("axis", 2)});
    output(all);
    return all;
  }
  value_id transposed(value_id k) {
    if (s.turned == key::swap_last) return turn(k, {0, 1, 3, 2});
    const value_id shape = node("Shape", {k});
    const auto at = [&](std::int64_t i) { return node("Gather", {shape, ints({i})}); };
    const value_id rank_3 = node("Reshape", {k, node("Concat", {ints({-1}), at(2), at(3)}, {integer("axis", 0)})});
    return node("Reshape",
                {turn(rank_3, {0, 2, 1}), node("Concat", {at(0), at(1), at(3), at(2)}, {integer("axis", 0)})});
  }
  value_id masked(value_id scores, value_id q, value_id k) {
    const value_id lowest = number(-3.4e38f);
    const dim keys = s.past ? symbol("total") : length;
    switch (s.hides) {
      case mask::none: return scores;
      case mask::padding: {
        const value_id given = input("mask", dtype::i64, {batch, s.past ? dim::fixed(6) : length});
        const value_id cells = node("Cast", {node("Min", {given, index(1)})}, {integer("to", 7)});
        const value_id wide = node("Unsqueeze", {cells, ints({1, 2})});
        const value_id seen = node("Cast", {wide}, {integer("to", 1)});
        return node("Add", {scores, node("Mul", {node("Sub", {number(1), seen}), lowest})});
      }
      case mask::bias: return node("Add", {scores, input("bias", s.type, {batch, dim::fixed(1), length, keys})});
      case mask::row_bias:
        return node("Add", {input("bias", s.type, {batch, dim::fixed(1), dim::fixed(1), keys}), scores});
      case mask::vector: return node("Add", {scores, input("bias", s.type, {keys})});
      case mask::hidden:
        return node("Where",
                    {node("Cast", {input("see", dtype::i32, {batch, dim::fixed(1), length, keys})}, {integer("to", 9)}),
                     lowest, scores});
      default: break;
    }
    std::vector<bool> cells(16 * 16);
    for (std::size_t i = 0; i < 16; ++i)
      for (std::size_t j = 0; j <= i; ++j) cells[i * 16 + j] = true;
    if (s.hides == mask::causal_copy) cells[1] = true;
    const value_id triangle = constant<bool>("triangle", {1, 1, 16, 16}, cells);
    const value_id rows = size_of(q, 2), all = size_of(k, 2);
    const value_id some = node("Slice", {triangle, as_vector(node("Sub", {all, rows})), as_vector(all), ints({2})});
    const value_id seen = node("Slice", {some, ints({0}), as_vector(all), ints({3})});
    return node("Where", {seen, scores, lowest});
  }

  std::unique_ptr<model> build() {
    const value_id q3 = input_of("q"), k3 = input_of("k", true), v3 = input_of("v", true);
    value_id q = turn(split(q3), {0, 2, 1, 3}), k_rows = split(k3), v = turn(split(v3), {0, 2, 1, 3});
    if (s.rotated) q = node("Neg", {q});
    value_id k = value_id::none, k_turned;
    if (s.turned != key::in_one || s.past) k = turn(k_rows, {0, 2, 1, 3});
    if (s.rotated) k = node("Neg", {k});
    if (s.past) k = joined("past_k", k), v = joined("past_v", v);
    k_turned = k == value_id::none ? turn(k_rows, {0, 2, 3, 1}) : transposed(k);
    value_id q_scaled = q;
    if (s.scale_both) q_scaled = node("Mul", {q, number(0.7f)}), k_turned = node("Mul", {k_turned, number(0.7f)});
    value_id scores = node("MatMul", {q_scaled, k_turned});
    if (s.scale_output) scores = node("Div", {scores, number(1.5f)});
    if (s.read_scores) output(scores);
    if (s.bias_of_present) {
      const value_id sums = node("ReduceSum", {k, ints({1, 3})});
      scores = node("Add", {scores, turn(sums, {0, 1, 3, 2})});
    }
    scores = masked(scores, q, k == value_id::none ? q : k);
    value_id p = node("Softmax", {scores}, {integer("axis", s.softmax_axis)});
    if (s.read_probabilities) output(p);
    if (s.guard) p = node("Where", {node("IsNaN", {p}), number(0), p});
    const value_id result = node("MatMul", {p, v});
    if (s.read_shape) output(node("Shape", {result}));
    value_id y = turn(result, {0, 2, 1, 3});
    if (s.merge)
      y = node("Reshape", {y, node("Concat", {as_vector(size_of(q3, 0)), as_vector(size_of(q3, 1)), ints({hidden})},
                                   {integer("axis", 0)})});
    output(y);
    return take();
  }
};

auto attention_as(const attention_spelling& s) {
  return [s] { return attention{s}.build(); };
}
/// The session with the fused node, after a check that both models agree.
session fuses(const attention_spelling& s) {
  session done = check_fires<rules::attention_fusion>("AttentionFusion", attention_as(s), 2e-5);
  CHECK(count_of(done, "MultiHeadAttention") == 1);
  CHECK(count_of(done, "Softmax") == 0);
  return done;
}
void leaves_unfused(const attention_spelling& s) {
  check_idle<rules::attention_fusion>("AttentionFusion", attention_as(s));
}

/// True if the fused node has its i-th input.
bool has_input(const session& s, std::size_t i) {
  const graph& g = s.graph().main();
  for (node_id n : g.order())
    if (g[n].op_type == "MultiHeadAttention") return i < g[n].input_count && g.input(n, i) != value_id::none;
  return false;
}

}  // namespace

TEST_CASE("attention is found with keys transposed and scores scaled in every way, and no transpose is left") {
  for (const attention_spelling& s : {attention_spelling{},
                                      {.turned = key::swap_last},
                                      {.turned = key::by_rank_3},
                                      {.turned = key::by_rank_3, .scale_both = true, .scale_output = false},
                                      {.scale_both = true},
                                      {.guard = true},
                                      {.softmax_axis = 3}}) {
    const session done = fuses(s);
    CHECK(count_of(done, "Transpose") == 0);
    CHECK(count_of(done, "Reshape") == 0);
  }
}

TEST_CASE("values with another size than the keys are passed as rows") {
  // Query, key and value are inputs [batch, heads, length, size], so that no transposes from rows precede the
  // attention.
  const auto make = [] {
    model_builder b;
    const auto input = [&](std::string_view name, std::int64_t size) {
      return b.input(name, dtype::f32, {dim::fixed(2), dim::fixed(4), dim::fixed(6), dim::fixed(size)});
    };
    const value_id q = input("q", 16), k = input("k", 16), v = input("v", 32);
    const value_id turned = b.node("Transpose", {k}, {attribute_of("perm", std::vector<std::int64_t>{0, 1, 3, 2})});
    b.output(b.node("MatMul", {b.node("Softmax", {b.node("MatMul", {q, turned})}), v}));
    return b.take();
  };
  const session done = check_fires<rules::attention_fusion>("AttentionFusion", make, 2e-5);
  const graph& g = done.graph().main();
  const auto found = std::ranges::find_if(g.order(), [&](node_id n) { return g[n].op_type == "MultiHeadAttention"; });
  REQUIRE(found != g.order().end());
  for (std::size_t i = 0; i < 3; ++i) CHECK(g[g.input(*found, i)].type->shape->size() == 3);
}

TEST_CASE("masks become inputs that MultiHeadAttention takes") {
  CHECK(has_input(fuses({.hides = mask::padding}), 4));
  const session full = fuses({.hides = mask::bias});
  CHECK(has_input(full, 5));
  CHECK(count_of(full, "Expand") == 0);
  CHECK(count_of(fuses({.hides = mask::row_bias}), "Expand") == 1);
  CHECK(count_of(fuses({.hides = mask::vector}), "Expand") == 1);
  CHECK(has_input(fuses({.hides = mask::hidden}), 5));
  const session causal = fuses({.hides = mask::causal, .turned = key::swap_last});
  CHECK(!has_input(causal, 5));
  CHECK(count_of(causal, "Slice") == 0);
  CHECK(has_input(fuses({.hides = mask::causal_copy, .turned = key::swap_last}), 5));
}

TEST_CASE("a guard against NaN stays where a mask may hide all keys") {
  CHECK(count_of(fuses({.hides = mask::padding, .guard = true}), "IsNaN") == 0);
  const session s = fuses({.hides = mask::row_bias, .guard = true});
  CHECK(count_of(s, "IsNaN") == 1);
}

TEST_CASE("the fused node joins keys and values of the past") {
  for (mask m : {mask::none, mask::padding, mask::causal}) {
    const session done = fuses({.hides = m, .turned = key::swap_last, .past = true});
    CHECK(has_input(done, 6));
    CHECK(count_of(done, "Concat") == 0);
  }
  // A value that depends on the present cannot be an input of the node that makes it.
  const session outside = fuses({.turned = key::swap_last, .past = true, .bias_of_present = true});
  CHECK(!has_input(outside, 6));
  CHECK(count_of(outside, "Concat") >= 2);
}

TEST_CASE("nodes between the split of heads and the scores stay, and so do nodes that follow") {
  CHECK(count_of(fuses({.turned = key::swap_last, .rotated = true}), "Neg") == 2);
  CHECK(count_of(fuses({.merge = false}), "MultiHeadAttention") == 1);
  CHECK(count_of(fuses({.read_shape = true}), "MultiHeadAttention") == 1);
}

namespace {

struct onnx_attention {
  bool read_shape = false, other_perm = false;
};
auto on_heads(const onnx_attention& given) {
  return [given] {
    model_builder b{23};
    const dim batch = b.symbol("batch"), length = b.symbol("length");
    const auto turn = [&](value_id v, std::vector<std::int64_t> axes) {
      return b.node("Transpose", {v}, {attribute_of("perm", axes)});
    };
    const auto heads = [&](std::string_view name, std::int64_t count) {
      const value_id x = b.input(name, dtype::f32, {batch, length, dim::fixed(count * 4)});
      const value_id target = b.constant<std::int64_t>(std::string{name} + "_shape", {4}, {0, 0, count, 4});
      return turn(b.node("Reshape", {x, target}), {0, 2, 1, 3});
    };
    const value_id q = heads("q", 4), k = heads("k", 2), v = heads("v", 2);
    value_id y = b.node("Attention", {q, k, v}, {model_builder::integer("is_causal", 1), attribute_of("scale", 0.3f)});
    if (given.read_shape) b.output(b.node("Shape", {y}));
    y = turn(y, given.other_perm ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3});
    b.output(b.node("Reshape", {y, b.constant<std::int64_t>("merged", {3}, {0, 0, 16})}));
    return b.take();
  };
}

}  // namespace

TEST_CASE("ONNX's Attention takes heads in rows, unless the split heads have other readers") {
  const session s = check_fires<rules::attention_fusion>("AttentionHeadsFusion", on_heads({}));
  CHECK(s.graph().main().order().size() == 1);
  check_idle<rules::attention_fusion>("AttentionHeadsFusion", on_heads({.read_shape = true}));
  check_idle<rules::attention_fusion>("AttentionHeadsFusion", on_heads({.other_perm = true}));
}

TEST_CASE("attention is not fused when its scores have other readers, or axis, batch or type differ") {
  leaves_unfused({.read_scores = true});
  leaves_unfused({.read_probabilities = true});
  leaves_unfused({.softmax_axis = 2});
  leaves_unfused({.batch_of_keys = 1});
  leaves_unfused({.type = dtype::f64});
}
