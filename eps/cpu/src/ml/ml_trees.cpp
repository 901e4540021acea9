#include <cameo/eps/cpu/ml_trees.hpp>
#include <cameo/op/attributes/ml.hpp>
#include <cameo/op/check_attribute.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "feature_walk.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

using rule = tree_node::rule;
using op::ml::tree_ensemble_attributes, op::ml::tree_ensemble_regressor_attributes;

bool holds(const tree_node& node, double v, std::span<const double> members) {
  if (node.missing_is_yes && v != v) return true;
  switch (node.how) {
    case rule::leq: return v <= node.split;
    case rule::lt: return v < node.split;
    case rule::gte: return v >= node.split;
    case rule::gt: return v > node.split;
    case rule::eq: return v == node.split;
    case rule::neq: return v != node.split;
    case rule::member: {
      const std::span set = members.subspan(node.members_begin, node.members_end - node.members_begin);
      return std::ranges::find(set, v) != set.end();
    }
    case rule::leaf: break;
  }
  return false;
}

/// Builds a forest, in memory that lives as long as the plan.
struct forest_builder {
  bind_context& c;
  tree_forest made = {};
  std::span<tree_node> nodes = {};
  std::span<std::uint32_t> roots = {};

  /// Makes the root of each tree its first node without a parent. A tree may list more of these, which are never
  /// reached. `trees` has the tree of each node.
  status collect_roots(std::span<const std::int64_t> trees, std::span<const std::uint32_t> without_parent) {
    const result<std::span<std::uint32_t>> kept = c.keep<std::uint32_t>(without_parent.size());
    if (!kept) return kept.error();
    std::copy(without_parent.begin(), without_parent.end(), kept->begin());
    std::sort(kept->begin(), kept->end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::pair{trees[a], a} < std::pair{trees[b], b}; });
    const auto rest =
        std::unique(kept->begin(), kept->end(), [&](std::uint32_t a, std::uint32_t b) { return trees[a] == trees[b]; });
    const std::span<std::uint32_t> firsts = kept->first(std::size_t(rest - kept->begin()));
    std::sort(firsts.begin(), firsts.end());  // scores of trees are added in the order of the file
    roots = firsts;
    return {};
  }

  /// Completes the forest. INVALID_GRAPH if nodes form a cycle. If `trees` (the tree of each node) is not empty, finds
  /// the roots.
  status finish(std::span<const std::int64_t> trees = {}) {
    const result<std::span<std::uint32_t>> parents = c.keep<std::uint32_t>(nodes.size());
    if (!parents) return parents.error();
    const result<std::span<std::uint32_t>> queue = c.keep<std::uint32_t>(nodes.size());
    if (!queue) return queue.error();
    std::ranges::fill(*parents, 0u);
    for (const tree_node& node : nodes) {
      if (node.how == rule::leaf) continue;
      ++(*parents)[node.yes], ++(*parents)[node.no];
      made.features = std::max(made.features, node.feature + 1);
    }
    std::size_t known = 0, seen = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if ((*parents)[i] == 0) (*queue)[known++] = std::uint32_t(i);
    if (!trees.empty())
      if (status collected = collect_roots(trees, queue->first(known)); !collected) return collected;
    while (seen < known) {
      const tree_node& node = nodes[(*queue)[seen++]];
      if (node.how == rule::leaf) continue;
      for (const std::uint32_t next : {node.yes, node.no})
        if (--(*parents)[next] == 0) (*queue)[known++] = next;
    }
    if (known != nodes.size()) return bad_attribute("the nodes of a tree lead back to themselves");
    made.nodes = nodes, made.roots = roots;
    return {};
  }
};

/// The rule that nodes_modes names; a leaf otherwise.
rule rule_named(std::string_view name) {
  constexpr detail::legal_values names{
      "BRANCH_LEQ|BRANCH_LT|BRANCH_GTE|BRANCH_GT|BRANCH_EQ|BRANCH_NEQ|BRANCH_MEMBER|LEAF"};
  return rule(names.number_of(name, std::uint8_t(rule::leaf)));
}

/// The key by which versions 1 to 4 refer to nodes: their tree and their number in it.
struct node_key {
  std::int64_t tree, number;
  std::uint32_t index;
  bool operator<(const node_key& other) const { return tree != other.tree ? tree < other.tree : number < other.number; }
};
/// The index of a node; INVALID_GRAPH if there is none.
result<std::uint32_t> find_node(std::span<const node_key> keys, std::int64_t tree, std::int64_t number) {
  const node_key wanted{tree, number, 0};
  const auto found = std::lower_bound(keys.begin(), keys.end(), wanted);
  if (found == keys.end() || wanted < *found) return bad_attribute("tree ", tree, " has no node ", number);
  return found->index;
}

/// Checks that an element of a list of attributes is an index, a class, or a column.
status check_index(std::string_view name, std::int64_t has, std::int64_t count) {
  return of_model(check_element(name, has, 0, count - 1));
}
/// Checks that lists have the same length.
status check_lengths(std::string_view what, std::initializer_list<std::size_t> lengths, std::size_t length) {
  for (const std::size_t each : lengths)
    if (status s = of_model(check_count(what, std::int64_t(each), std::int64_t(length))); !s) return s;
  return {};
}

result<std::span<const node_key>> index_nodes(bind_context& c, std::span<const std::int64_t> trees,
                                              std::span<const std::int64_t> numbers) {
  const std::size_t n = trees.size();
  result<std::span<node_key>> keys = c.keep<node_key>(n);
  if (!keys) return keys.error();
  for (std::size_t i = 0; i < n; ++i) (*keys)[i] = {trees[i], numbers[i], std::uint32_t(i)};
  std::sort(keys->begin(), keys->end());
  for (std::size_t i = 1; i < n; ++i)
    if (!((*keys)[i - 1] < (*keys)[i]))
      return bad_attribute("tree ", (*keys)[i].tree, " has node ", (*keys)[i].number, " twice");
  return std::span<const node_key>{*keys};
}

/// The weights of leaves, with the names of two attributes.
struct weight_lists {
  std::string_view ids_name, tensor_name;
  std::span<const std::int64_t> ids, trees, nodes;
  attribute_tensor tensor;
  std::span<const float> weights;
};

status add_weights(forest_builder& b, std::span<const node_key> keys, const weight_lists& in) {
  const result<std::span<const double>> values = numbers_of(b.c, in.tensor_name, in.tensor, in.weights);
  if (!values) return values.error();
  const std::size_t n = in.ids.size();
  const status same = check_lengths("a list of leaf weights", {in.trees.size(), in.nodes.size(), values->size()}, n);
  if (!same) return same;
  if (n > std::numeric_limits<std::uint32_t>::max()) return status_code::out_of_memory;
  for (std::size_t i = 0; i < n; ++i) {
    const result<std::uint32_t> at = find_node(keys, in.trees[i], in.nodes[i]);
    if (!at) return at.error();
    if (status s = check_index(in.ids_name, in.ids[i], b.made.targets); !s) return s;
    if (tree_node& node = b.nodes[*at]; node.how == rule::leaf) ++node.no;
  }
  std::uint32_t total = 0;
  for (tree_node& node : b.nodes)
    if (node.how == rule::leaf) node.yes = std::exchange(total, total + node.no), node.no = node.yes;
  result<std::span<leaf_weight>> weights = b.c.keep<leaf_weight>(total);
  if (!weights) return weights.error();
  for (std::size_t i = 0; i < n; ++i)
    if (tree_node& node = b.nodes[*find_node(keys, in.trees[i], in.nodes[i])]; node.how == rule::leaf)
      (*weights)[node.no++] = {in.ids[i], (*values)[i]};
  // With one target, only the first weight of a leaf counts: skl2onnx repeats it, once for each class. With several
  // targets, all weights of a leaf for a target are aggregated, as in ONNX Runtime.
  if (b.made.targets == 1)
    for (tree_node& node : b.nodes)
      if (node.how == rule::leaf) node.no = std::min(node.no, node.yes + 1);
  b.made.weights = *weights;
  return {};
}

/// True if a missing value takes the branch of a true condition at node i of n. As in ONNX Runtime, a list of another
/// length is ignored.
bool follows_missing(std::span<const std::int64_t> tracks, std::size_t i, std::size_t n) {
  return tracks.size() == n && tracks[i] != 0;
}

/// Columns are below this number, so that the number of columns fits.
constexpr std::int64_t most_columns = std::numeric_limits<std::int64_t>::max();

/// The forest of versions 1 to 4; a classifier has the same nodes as a regressor.
result<tree_forest> listed_forest(bind_context& c, const tree_ensemble_regressor_attributes& a, std::int64_t targets,
                                  const weight_lists& in) {
  forest_builder b{c};
  b.made.targets = targets;
  const std::size_t n = a.nodes_modes.size();
  const auto splits = numbers_of(c, "nodes_values_as_tensor", a.nodes_values_as_tensor, a.nodes_values);
  if (!splits) return splits.error();
  const status same = check_lengths("a list of nodes",
                                    {a.nodes_featureids.size(), a.nodes_truenodeids.size(), a.nodes_falsenodeids.size(),
                                     splits->size(), a.nodes_treeids.size(), a.nodes_nodeids.size()},
                                    n);
  if (!same) return same;
  if (n >= std::numeric_limits<std::uint32_t>::max()) return status_code::out_of_memory;
  const result<std::span<const node_key>> keys = index_nodes(c, a.nodes_treeids, a.nodes_nodeids);
  if (!keys) return keys.error();
  result<std::span<tree_node>> nodes = c.keep<tree_node>(n);
  if (!nodes) return nodes.error();
  b.nodes = *nodes;
  for (std::size_t i = 0; i < n; ++i) {
    tree_node& node = b.nodes[i];
    const bool missing = follows_missing(a.nodes_missing_value_tracks_true, i, n);
    node = {rule_named(a.nodes_modes[i]), missing, a.nodes_featureids[i], (*splits)[i], 0, 0, 0, 0};
    if (node.how == rule::leaf) continue;
    const result<std::uint32_t> yes = find_node(*keys, a.nodes_treeids[i], a.nodes_truenodeids[i]);
    if (!yes) return yes.error();
    const result<std::uint32_t> no = find_node(*keys, a.nodes_treeids[i], a.nodes_falsenodeids[i]);
    if (!no) return no.error();
    if (status s = check_index("nodes_featureids", node.feature, most_columns); !s) return s;
    node.yes = *yes, node.no = *no;
  }
  if (status added = add_weights(b, *keys, in); !added) return added;
  if (status done = b.finish(a.nodes_treeids); !done) return done;
  return b.made;
}

/// The tensors of TreeEnsemble (version 5), as double.
struct split_numbers {
  std::span<const double> modes, splits, weights, members;
};

/// The index of the node or leaf that a branch leads to; leaves follow the nodes.
result<std::uint32_t> branch(std::string_view name, std::int64_t to, bool is_leaf, std::size_t nodes,
                             std::size_t leaves) {
  if (status s = check_index(name, to, std::int64_t(is_leaf ? leaves : nodes)); !s) return s;
  return std::uint32_t(std::size_t(to) + (is_leaf ? nodes : 0));
}

/// Fills the nodes of TreeEnsemble, in which nodes and leaves are separate lists, and a node has a flag for each branch
/// whether it is a leaf.
status fill_split_nodes(forest_builder& b, const tree_ensemble_attributes& a, const split_numbers& in) {
  const std::size_t n = in.modes.size(), leaves = a.leaf_targetids.size();
  std::size_t member = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(in.modes[i] >= 0 && in.modes[i] <= 6)) return bad_attribute("nodes_modes must lie in [0,6]");
    const auto yes = branch("nodes_truenodeids", a.nodes_truenodeids[i], a.nodes_trueleafs[i] != 0, n, leaves);
    if (!yes) return yes.error();
    const auto no = branch("nodes_falsenodeids", a.nodes_falsenodeids[i], a.nodes_falseleafs[i] != 0, n, leaves);
    if (!no) return no.error();
    if (status s = check_index("nodes_featureids", a.nodes_featureids[i], most_columns); !s) return s;
    tree_node& node = b.nodes[i];
    const bool missing = follows_missing(a.nodes_missing_value_tracks_true, i, n);
    node = {rule(int(in.modes[i])), missing, a.nodes_featureids[i], in.splits[i], *yes, *no, 0, 0};
    if (node.how != rule::member) continue;
    node.members_begin = std::uint32_t(member);  // sets are consecutive, and each ends with a NaN
    while (member < in.members.size() && in.members[member] == in.members[member]) ++member;
    node.members_end = std::uint32_t(member);
    if (member++ == in.members.size()) return bad_attribute("membership_values must have a NaN after each set");
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    if (status s = check_index("leaf_targetids", a.leaf_targetids[i], b.made.targets); !s) return s;
    b.nodes[n + i] = {rule::leaf, false, 0, 0, std::uint32_t(i), std::uint32_t(i + 1), 0, 0};
  }
  return {};
}

result<tree_forest> split_forest(bind_context& c, const tree_ensemble_attributes& a) {
  forest_builder b{c};
  b.made.targets = a.n_targets.value_or(1);
  const auto modes = numbers_of(c, "nodes_modes", a.nodes_modes),
             splits = numbers_of(c, "nodes_splits", a.nodes_splits),
             weights = numbers_of(c, "leaf_weights", a.leaf_weights),
             members = numbers_of(c, "membership_values", a.membership_values);
  for (const auto* list : {&modes, &splits, &weights, &members})
    if (!*list) return list->error();
  const std::size_t n = modes->size(), leaves = a.leaf_targetids.size();
  const status same = check_lengths("a list of nodes",
                                    {a.nodes_featureids.size(), a.nodes_truenodeids.size(), a.nodes_falsenodeids.size(),
                                     a.nodes_trueleafs.size(), a.nodes_falseleafs.size(), splits->size()},
                                    n);
  if (!same) return same;
  if (status s = check_lengths("leaf_weights", {weights->size()}, leaves); !s) return s;
  if (n + leaves + members->size() >= std::numeric_limits<std::uint32_t>::max()) return status_code::out_of_memory;
  const result<std::span<tree_node>> nodes = c.keep<tree_node>(n + leaves);
  if (!nodes) return nodes.error();
  b.nodes = *nodes;
  if (status s = fill_split_nodes(b, a, {*modes, *splits, *weights, *members}); !s) return s;
  const result<std::span<std::uint32_t>> roots = c.keep<std::uint32_t>(a.tree_roots.size());
  if (!roots) return roots.error();
  // A tree that consists of a leaf is a node whose two branches are that leaf.
  for (std::size_t i = 0; i < roots->size(); ++i) {
    const result<std::uint32_t> root = branch("tree_roots", a.tree_roots[i], false, n, leaves);
    if (!root) return root.error();
    (*roots)[i] = *root;
  }
  b.roots = *roots;
  const result<std::span<leaf_weight>> kept = c.keep<leaf_weight>(leaves);
  if (!kept) return kept.error();
  for (std::size_t i = 0; i < leaves; ++i) (*kept)[i] = {a.leaf_targetids[i], (*weights)[i]};
  b.made.weights = *kept, b.made.members = *members;
  if (status done = b.finish(); !done) return done;
  return b.made;
}

/// Calls f(row, scores, hit) for all rows, on several threads. hit[t] is true if a leaf has a weight for target t.
template <class F>
status each_row(run_context& c, const tree_forest& forest, const feature_rows& size, const F& f) {
  if (size.rows > 0)
    if (status s = check_least_count("a row of X", size.columns, forest.features); !s) return s;
  const std::int64_t room = std::max<std::int64_t>(2, forest.targets);
  const auto hits = lane_scratch<bool>::make(c, std::size_t(room));
  if (!hits) return hits.error();
  return each_feature_row(c, size, size.columns, room, 16,
                          [&](std::int64_t row, const double* x, double* scores, std::size_t lane) {
                            forest.score(x, scores, hits->at(lane));
                            f(row, scores, hits->at(lane));
                          });
}

}  // namespace

void tree_forest::score(const double* x, double* scores, bool* hit) const {
  std::fill_n(scores, targets, 0.0), std::fill_n(hit, targets, false);
  for (const std::uint32_t root : roots) {
    const tree_node* node = &nodes[root];
    while (node->how != rule::leaf) node = &nodes[holds(*node, x[node->feature], members) ? node->yes : node->no];
    for (const leaf_weight& w : weights.subspan(node->yes, node->no - node->yes)) {
      double& s = scores[w.target];
      if (how == aggregate::min) s = hit[w.target] ? std::min(s, w.weight) : w.weight;
      else if (how == aggregate::max) s = hit[w.target] ? std::max(s, w.weight) : w.weight;
      else s += w.weight;
      hit[w.target] = true;
    }
  }
  if (how != aggregate::average) return;
  // Without any tree, the average for a single target is NaN, as in ONNX Runtime. With several targets, one for which
  // no leaf has a weight stays 0.
  for (std::int64_t t = 0; t < targets; ++t)
    if (hit[t] || targets == 1) scores[t] /= double(roots.size());
}

result<tree_ensemble> tree_ensemble::bind(bind_context& c) {
  const attributes_of<op::ml::TreeEnsemble> a{c.attributes};
  result<tree_forest> forest = split_forest(c, a);
  if (!forest) return forest.error();
  forest->how = tree_forest::aggregate(a.aggregate_function);
  return tree_ensemble{*forest, {}, score_transform(a.post_transform)};
}

result<tree_ensemble_regressor> tree_ensemble_regressor::bind(bind_context& c) {
  const attributes_of<op::ml::TreeEnsembleRegressor> a{c.attributes};
  const std::int64_t targets = a.n_targets.value_or(1);
  const weight_lists weights{"target_ids",     "target_weights_as_tensor", a.target_ids,    a.target_treeids,
                             a.target_nodeids, a.target_weights_as_tensor, a.target_weights};
  result<tree_forest> forest = listed_forest(c, a, targets, weights);
  if (!forest) return forest.error();
  forest->how = a.aggregate_function;
  const auto base = numbers_of(c, "base_values_as_tensor", a.base_values_as_tensor, a.base_values);
  if (!base) return base.error();
  if (!base->empty())
    if (status s = check_lengths("base_values", {base->size()}, std::size_t(targets)); !s) return s;
  return tree_ensemble_regressor{{*forest, *base, a.post_transform}};
}

status tree_ensemble::run(run_context& c) const {
  const feature_rows size = rows_of(c.input(0));
  const result<value*> y = c.output(0, {size.rows, forest.targets});
  if (!y) return y.error();
  return each_row(c, forest, size, [&](std::int64_t row, double* scores, const bool* hit) {
    // With several targets, one for which no leaf has a weight stays 0, as in ONNX Runtime.
    for (std::int64_t t = 0; t < std::int64_t(base.size()); ++t)
      if (hit[t] || forest.targets == 1) scores[t] += base[std::size_t(t)];
    finish_scores(transform, second_class::none, scores, forest.targets);
    save_floats(scores, **y, row * forest.targets, forest.targets);
  });
}

result<tree_ensemble_classifier> tree_ensemble_classifier::bind(bind_context& c) {
  const attributes_of<op::ml::TreeEnsembleClassifier> a{c.attributes};
  tree_ensemble_classifier made;
  made.labels = {a.classlabels_strings, a.classlabels_int64s}, made.transform = a.post_transform;
  const auto classes = std::size_t(made.labels.count());
  if (status s = check_given("classlabels_strings or classlabels_int64s", classes > 0); !s) return s;
  const weight_lists weights{"class_ids",     "class_weights_as_tensor", a.class_ids,    a.class_treeids,
                             a.class_nodeids, a.class_weights_as_tensor, a.class_weights};
  result<tree_forest> forest =
      listed_forest(c, tree_ensemble_regressor_attributes{c.attributes}, made.labels.count(), weights);
  if (!forest) return forest.error();
  made.forest = *forest;
  const auto base = numbers_of(c, "base_values_as_tensor", a.base_values_as_tensor, a.base_values);
  if (!base) return base.error();
  if (base->size() > classes) return check_lengths("base_values", {base->size()}, classes);
  made.base = *base;
  made.one_weighted = made.labels.count() == 2;
  for (const leaf_weight& w : forest->weights) {
    made.one_weighted = made.one_weighted && w.target == forest->weights[0].target;
    made.all_positive = made.all_positive && !(w.weight < 0);
  }
  return made;
}

status tree_ensemble_classifier::run(run_context& c) const {
  const feature_rows size = rows_of(c.input(0));
  const std::int64_t classes = forest.targets;
  const auto outputs = classifier_outputs::make(c, labels, size.rows, classes);
  if (!outputs) return outputs.error();
  return each_row(c, forest, size, [&](std::int64_t row, double* scores, const bool* hit) {
    std::int64_t best = 0, n = classes;
    second_class second = second_class::none;
    const auto addends = std::int64_t(base.size());
    const bool one = classes == 2 && one_weighted;
    for (std::int64_t k = 0; k < std::min(classes, addends); ++k)
      if (!one || hit[k]) scores[k] += base[std::size_t(k)];
    if (one) {
      best = scores[hit[1] ? 1 : 0] > (all_positive ? 0.5 : 0.0);
      if (!hit[1] && addends < 2) n = 1, second = all_positive ? second_class::complement : second_class::opposite;
    } else {
      best = -1;  // a class without a weight of a leaf or a base value is not chosen
      for (std::int64_t k = 0; k < classes; ++k)
        if ((hit[k] || k < addends) && (best < 0 || scores[k] > scores[best])) best = k;
      best = std::max<std::int64_t>(best, 0);
    }
    outputs->put_label(row, best);
    outputs->put_scores(row, scores, finish_scores(transform, second, scores, n));
  });
}

}  // namespace CAMEO_NAMESPACE::eps
