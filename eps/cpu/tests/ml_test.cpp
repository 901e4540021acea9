#include <doctest/doctest.h>
#include <cameo/eps/cpu/ml_features.hpp>
#include <cameo/eps/cpu/ml_labels.hpp>
#include <cameo/eps/cpu/ml_linear.hpp>
#include <cameo/eps/cpu/ml_trees.hpp>
#include <cameo/op/ml.hpp>
#include <cameo/os/heap_arena.hpp>

#include <deque>
#include <limits>

#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

const floats two_rows{1, 2, 3, 4, 5, 6};

TEST_CASE("columns that do not exist are refused") {
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{3}, std::numeric_limits<std::int64_t>::max()}) {
    const ints y{0, bad};
    kernel_rig rig{1};
    rig.input<float>({2, 3}, two_rows).input<std::int64_t>({2}, y);
    CHECK(rig.run<eps::array_feature_extractor>({dtype::f32}).code() == status_code::invalid_argument);
  }
  const ints none;
  kernel_rig rig{1};
  rig.input<float>({2, 3}, two_rows).input<std::int64_t>({0}, none);
  CHECK(rig.run<eps::array_feature_extractor>({dtype::f32}));
}

TEST_CASE("a scaler has one number, or one per column; other counts are refused") {
  kernel_rig one{1};
  one.attribute("offset", floats{1}).attribute("scale", floats{1, 2, 3}).input<float>({2, 3}, two_rows);
  CHECK(one.run<eps::scaler>({dtype::f32}));
  CHECK(one.output<float>(0)[5] == 15);
  kernel_rig many{1};
  many.attribute("offset", floats{1, 2}).attribute("scale", floats{1}).input<float>({2, 3}, two_rows);
  CHECK(many.run<eps::scaler>({dtype::f32}).code() == status_code::invalid_argument);
}

TEST_CASE("NaN is a key like any other, and the first of equal keys counts") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const floats keys{nan, 2, 2};
  kernel_rig rig{4};
  rig.attribute("keys_floats", keys).attribute("values_int64s", ints{7, 8, 9});
  const floats in{2, nan, 5};
  CHECK(rig.input<float>({3}, in).run<eps::label_encoder>({dtype::i64}));
  CHECK(std::ranges::equal(rig.output<std::int64_t>(0).span(), ints{8, 7, -1}));
  kernel_rig uneven{4};
  uneven.attribute("keys_floats", keys).attribute("values_int64s", ints{7}).input<float>({3}, in);
  CHECK(uneven.run<eps::label_encoder>({dtype::i64}).code() == status_code::invalid_graph);
}

TEST_CASE("an unknown category is a row of zeros or refused") {
  const ints in{5, 7};
  for (const std::int64_t zeros : {0, 1}) {
    kernel_rig rig{1};
    rig.attribute("cats_int64s", ints{5, 6}).attribute("zeros", zeros).input<std::int64_t>({2}, in);
    CHECK(bool(rig.run<eps::one_hot_encoder>({dtype::f32})) == (zeros == 1));
    if (zeros) CHECK(std::ranges::equal(rig.output<float>(0).span(), floats{1, 0, 0, 0}));
  }
}

TEST_CASE("rows of a linear model must have its columns") {
  kernel_rig rig{1};
  rig.attribute("coefficients", floats{1, 2}).input<float>({2, 3}, two_rows);
  CHECK(rig.run<eps::linear_regressor>({dtype::f32}).code() == status_code::invalid_argument);
  kernel_rig none{1};
  none.checked_as<op::ml::LinearRegressor>();
  none.attribute("coefficients", floats{}).attribute("targets", std::int64_t{0}).input<float>({2, 3}, two_rows);
  CHECK(none.run<eps::linear_regressor>({dtype::f32}).code() == status_code::invalid_graph);
}

TEST_CASE("a support vector machine without rho, or with too few coefficients, is refused") {
  kernel_rig rig{1};
  rig.attribute("n_supports", std::int64_t{2}).attribute("coefficients", floats{1}).attribute("rho", floats{0});
  rig.attribute("support_vectors", floats{1, 2, 3, 4, 5, 6}).input<float>({2, 3}, two_rows);
  CHECK(rig.run<eps::svm_regressor>({dtype::f32}).code() == status_code::invalid_graph);
  kernel_rig without{1};
  CHECK(without.input<float>({2, 3}, two_rows).run<eps::svm_regressor>({dtype::f32}).code() ==
        status_code::invalid_graph);
}

TEST_CASE("a linear model has more coefficients than its columns need, and ignores the others") {
  kernel_rig regressor{1};  // like ONNX Runtime's, which does not require a multiple of the targets
  regressor.attribute("coefficients", floats{1, 2, 3, 4, 5, 6, 100}).attribute("targets", std::int64_t{2});
  CHECK(regressor.input<float>({2, 3}, two_rows).run<eps::linear_regressor>({dtype::f32}));
  CHECK(std::ranges::equal(regressor.output<float>(0).span(), floats{14, 32, 32, 77}));
  kernel_rig classifier{1};
  classifier.attribute("coefficients", floats{1, 2, 3, 4, 5, 6, 100, 200}).attribute("intercepts", floats{0, 1});
  classifier.attribute("classlabels_ints", ints{7, 8}).input<float>({2, 3}, two_rows);
  CHECK(classifier.run<eps::linear_classifier>({dtype::i64, dtype::f32}));
  CHECK(std::ranges::equal(classifier.output<float>(1).span(), floats{14, 33, 32, 78}));
  kernel_rig few{1};
  few.attribute("coefficients", floats{1, 2, 3, 4}).attribute("intercepts", floats{0, 1});
  few.attribute("classlabels_ints", ints{7, 8}).input<float>({2, 3}, two_rows);
  CHECK(few.run<eps::linear_classifier>({dtype::i64, dtype::f32}).code() == status_code::invalid_argument);
}

/// One entry of a tree ensemble's list of leaf weights.
struct leaf_entry {
  std::int64_t node, target;
  float weight;
};

/// Adds one tree to a rig, whose node 0 leads to leaf 1 if x <= 0.5, and else to leaf 2. No node leads to node 3, a
/// leaf. `prefix` is "target" or "class".
void add_stump(kernel_rig& rig, const std::string& prefix, const std::vector<leaf_entry>& entries) {
  static const std::string_view modes[] = {"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"};
  static const floats rows{0, 1};
  rig.attribute("nodes_nodeids", ints{0, 1, 2, 3}).attribute("nodes_treeids", ints{0, 0, 0, 0});
  rig.attribute("nodes_featureids", ints{0, 0, 0, 0})
      .attribute("nodes_modes", std::span<const std::string_view>{modes});
  rig.attribute("nodes_values", floats{0.5f, 0, 0, 0}).attribute("nodes_truenodeids", ints{1, 0, 0, 0});
  rig.attribute("nodes_falsenodeids", ints{2, 0, 0, 0});
  ints nodes, ids;
  floats weights;
  for (const leaf_entry& each : entries)
    nodes.push_back(each.node), ids.push_back(each.target), weights.push_back(each.weight);
  static std::deque<std::string> names;  // the attributes refer to these strings
  const auto name = [&](const char* what) { return std::string_view{names.emplace_back(prefix + what)}; };
  rig.attribute(name("_treeids"), ints(nodes.size(), 0)).attribute(name("_nodeids"), nodes);
  rig.attribute(name("_ids"), ids).attribute(name("_weights"), weights).input<float>({2, 1}, rows);
}

floats regressed(std::string_view aggregate, std::int64_t targets, const std::vector<leaf_entry>& entries) {
  kernel_rig rig{3};
  rig.attribute("aggregate_function", aggregate).attribute("n_targets", targets);
  add_stump(rig, "target", entries);
  REQUIRE(rig.run<eps::tree_ensemble_regressor>({dtype::f32}));
  const auto made = rig.output<float>(0).span();
  return {made.begin(), made.end()};
}

TEST_CASE("if a leaf has several weights for the only target, the first counts, as in skl2onnx's decision_leaf") {
  const std::vector<leaf_entry> repeated{{2, 0, 19}, {1, 0, 7}, {2, 0, 19}, {2, 0, 19}, {1, 0, 5}};
  for (const std::string_view aggregate : {"SUM", "AVERAGE", "MIN", "MAX"})
    CHECK(regressed(aggregate, 1, repeated) == floats{7, 19});
}

TEST_CASE("weights that a leaf has for one of several targets are aggregated") {
  const std::vector<leaf_entry> repeated{{1, 0, 3}, {1, 0, 1}, {2, 1, 5}, {2, 1, 7}};
  CHECK(regressed("SUM", 2, repeated) == floats{4, 0, 0, 12});
  CHECK(regressed("AVERAGE", 2, repeated) == floats{4, 0, 0, 12});
  CHECK(regressed("MIN", 2, repeated) == floats{1, 0, 0, 5});
  CHECK(regressed("MAX", 2, repeated) == floats{3, 0, 0, 7});
}

TEST_CASE("a leaf that no node leads to is not another tree") {
  for (const std::string_view aggregate : {"SUM", "AVERAGE", "MIN", "MAX"})
    CHECK(regressed(aggregate, 1, {{1, 0, 3}, {2, 0, 4}, {3, 0, -100}}) == floats{3, 4});
}

TEST_CASE("the average without any tree is NaN for one target and 0 for several") {
  for (const std::int64_t targets : {1, 2}) {
    kernel_rig rig{3};
    rig.attribute("aggregate_function", "AVERAGE").attribute("n_targets", targets).input<float>({2, 3}, two_rows);
    REQUIRE(rig.run<eps::tree_ensemble_regressor>({dtype::f32}));
    for (const float each : rig.output<float>(0).span()) CHECK((targets == 1 ? each != each : each == 0));
  }
}

TEST_CASE("a tree ensemble of one class gives its label and one score in each row") {
  for (const std::string_view transform : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"})
    for (const float base : {0.0f, 0.25f}) {
      kernel_rig rig{3};
      rig.attribute("classlabels_int64s", ints{7}).attribute("post_transform", transform);
      rig.attribute("base_values", floats{base});
      add_stump(rig, "class", {{1, 0, 1}, {2, 0, 0.5f}, {2, 0, 100}});
      REQUIRE(rig.run<eps::tree_ensemble_classifier>({dtype::i64, dtype::f32}));
      CHECK(std::ranges::equal(rig.output<std::int64_t>(0).span(), ints{7, 7}));
      CHECK(rig.output_value(1).shape == extents{2, 1});
      CHECK(std::ranges::equal(rig.output<float>(1).span(), floats{1 + base, 0.5f + base}));
    }
}

/// The status of binding a tree of one split (node 0) and two leaves (1, 2), with these branches, this feature, and
/// this node and target of its weight.
status bind_tree(const ints& yes, const ints& no, std::int64_t feature, std::int64_t weighted, std::int64_t target) {
  const std::vector<std::string_view> modes{"BRANCH_LEQ", yes[1] ? "BRANCH_LT" : "LEAF", "LEAF"};
  const ints numbers{0, 1, 2}, trees{0, 0, 0}, features{feature, 0, 0}, at{weighted}, ids{target}, tree{0};
  const floats splits{1, 1, 1}, weights{5};
  std::vector<cameo::attribute> attributes;
  const auto add = [&](std::string_view name, const ints& list) {
    attributes.push_back({name, attribute_kind::ints});
    attributes.back().ints = list;
  };
  add("nodes_nodeids", numbers), add("nodes_treeids", trees), add("nodes_featureids", features);
  add("nodes_truenodeids", yes), add("nodes_falsenodeids", no);
  add("target_nodeids", at), add("target_treeids", tree), add("target_ids", ids);
  attributes.push_back({"nodes_modes", attribute_kind::strings});
  attributes.back().strings = modes;
  attributes.push_back({"nodes_values", attribute_kind::floats});
  attributes.back().floats = splits;
  attributes.push_back({"target_weights", attribute_kind::floats});
  attributes.back().floats = weights;
  detail::heap_arena memory, more;
  detail::arena_vector<detail::output_hint> hints{more};
  bind_context c{"Op", "node", 1, attributes, {}, {}, 0, memory, true, hints};
  const result<eps::tree_ensemble_regressor> bound = eps::tree_ensemble_regressor::bind(c);
  if (!bound) return bound.error().code();
  const double row[]{2};
  double score = 0;
  bool hit = false;
  bound->forest.score(row, &score, &hit);
  CHECK(score == (hit ? 5.0 : 0.0));
  return {};
}

TEST_CASE("trees with missing nodes or cycles are refused when they are bound") {
  CHECK(bind_tree({1, 0, 0}, {2, 0, 0}, 0, 2, 0));
  CHECK(bind_tree({1, 0, 0}, {1, 0, 0}, 0, 1, 0));                                        // two branches to one leaf
  CHECK(bind_tree({1, 1, 0}, {2, 2, 0}, 0, 2, 0).code() == status_code::invalid_graph);   // a node leads to itself
  CHECK(bind_tree({9, 0, 0}, {2, 0, 0}, 0, 2, 0).code() == status_code::invalid_graph);   // there is no such node
  CHECK(bind_tree({1, 0, 0}, {2, 0, 0}, -1, 2, 0).code() == status_code::invalid_graph);  // there is no such column
  CHECK(bind_tree({1, 0, 0}, {2, 0, 0}, 0, 7, 0).code() == status_code::invalid_graph);   // weight without a node
  CHECK(bind_tree({1, 0, 0}, {2, 0, 0}, 0, 2, 1).code() == status_code::invalid_graph);   // weight without a target
  CHECK(bind_tree({1, 0, 0}, {2, 0, 0}, std::numeric_limits<std::int64_t>::max(), 2, 0).code() ==
        status_code::invalid_graph);
}

}  // namespace
}  // namespace cameo::test
