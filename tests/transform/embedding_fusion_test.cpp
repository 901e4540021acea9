#include <cameo/transform/rules/fusions.hpp>

#include "rule_rig.hpp"

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

struct embedding {
  bool segments = true, own_positions = false, read_sum = false, read_words = false, bias = true, long_positions = true;
  std::int64_t axis = -1;
  dtype ids = dtype::i64;
  std::size_t order = 0;  // order of the summands
};
auto embed(const embedding& given) {
  return [given] {
    model_builder b;
    const dim batch = b.symbol("batch"), length = b.symbol("length");
    const auto rows = [&](std::string_view name, std::int64_t count, value_id ids) {
      return b.node("Gather", {b.constant<float>(name, {count, 8}, ramp(std::size_t(count) * 8, 0.01f)), ids});
    };
    const value_id ids = b.input("ids", given.ids, {batch, length});
    std::vector<value_id> parts{rows("words", 20, ids)};
    if (given.read_words) b.output(parts[0]);
    if (given.segments) parts.push_back(rows("segments", 4, b.input("types", given.ids, {batch, length})));
    const dim places = given.long_positions ? length : dim::fixed(1);
    parts.push_back(
        rows("positions", 10, b.input("places", dtype::i64, {given.own_positions ? batch : dim::fixed(1), places})));
    std::rotate(parts.begin(), parts.begin() + std::ptrdiff_t(given.order), parts.end());
    value_id sum = b.node("Add", {parts[0], parts[1]});
    if (parts.size() == 3) sum = b.node("Add", {parts[2], sum});
    if (given.read_sum) b.output(sum);
    std::vector<value_id> in{sum, b.constant<float>("scale", {8}, ramp(8, 0.002f))};
    if (given.bias) in.push_back(b.constant<float>("bias", {8}, ramp(8)));
    b.output(
        b.node("LayerNormalization", in, {model_builder::integer("axis", given.axis), attribute_of("epsilon", 1e-3f)}));
    return b.take();
  };
}

}  // namespace

TEST_CASE("embeddings and the normalization of their sum become one node, in any order, also without segments") {
  for (const embedding& e : {embedding{},
                             {.order = 1},
                             {.order = 2},
                             {.own_positions = true},
                             {.segments = false},
                             {.segments = false, .order = 1},
                             {.axis = 2},
                             {.ids = dtype::i32}}) {
    const session s = check_fires<rules::normalization_fusion>("EmbedLayerNormFusion", embed(e));
    CHECK(count_of(s, "EmbedLayerNormalization") == 1);
    CHECK(count_of(s, "Gather") == 0);
    CHECK(count_of(s, "Cast") <= 3);
  }
}

TEST_CASE("embeddings stay when they have other readers, positions are repeated, or the normalization differs") {
  const auto idle = [](const embedding& e) {
    check_idle<rules::normalization_fusion>("EmbedLayerNormFusion", embed(e));
  };
  idle({.read_sum = true});
  idle({.read_words = true});
  idle({.bias = false});
  idle({.long_positions = false});
  check_idle<rules::normalization_fusion>("EmbedLayerNormFusion", [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {b.symbol("b"), b.symbol("s"), dim::fixed(8)});
    const value_id rows = b.node(
        "Gather", {b.constant<float>("t", {4, 8}, ramp(32)), b.input("i", dtype::i64, {b.symbol("b"), b.symbol("s")})});
    b.output(b.node("LayerNormalization", {b.node("Add", {x, rows}), b.constant<float>("s", {8}, ramp(8)),
                                           b.constant<float>("c", {8}, ramp(8))}));
    return b.take();
  });
}
