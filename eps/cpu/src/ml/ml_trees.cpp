#include <cameo/eps/cpu/ml_trees.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "feature_walk.hpp"
#include "operands/choice.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

using rule = tree_node::rule;

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

result<rule> rule_named(std::string_view name) {
  constexpr std::string_view names[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                        "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (name == names[i] && rule(i) != rule::member) return rule(i);
  return bad_attribute("nodes_modes has '", name, "', which is not a mode");
}

/// The key by which versions 1 to 4 refer to nodes: their tree and their number in it.
struct node_key {
  std::int64_t tree, number;
  std::uint32_t index;
  bool operator<(const node_key& other) const { return tree != other.tree ? tree < other.tree : number < other.number; }
};
const node_key* find_node(std::span<const node_key> keys, std::int64_t tree, std::int64_t number) {
  const node_key wanted{tree, number, 0};
  const auto found = std::lower_bound(keys.begin(), keys.end(), wanted);
  return found == keys.end() || wanted < *found ? nullptr : &*found;
}

status check_count(std::size_t count, std::size_t want, std::string_view what) {
  if (count == want) return {};
  return bad_attribute(what, " has ", count, " elements, must have ", want);
}

result<std::span<const node_key>> index_nodes(bind_context& c, std::size_t n) {
  const auto trees = c.ints_or("nodes_treeids"), numbers = c.ints_or("nodes_nodeids");
  result<std::span<node_key>> keys = c.keep<node_key>(n);
  if (!keys) return keys.error();
  for (std::size_t i = 0; i < n; ++i) (*keys)[i] = {trees[i], numbers[i], std::uint32_t(i)};
  std::sort(keys->begin(), keys->end());
  for (std::size_t i = 1; i < n; ++i)
    if (!((*keys)[i - 1] < (*keys)[i]))
      return bad_attribute("tree ", (*keys)[i].tree, " has node ", (*keys)[i].number, " twice");
  return std::span<const node_key>{*keys};
}

/// The names of the attributes that list the weights of leaves.
struct weight_names {
  std::string_view trees, nodes, ids, weights, tensor;
};
constexpr weight_names target_names{"target_treeids", "target_nodeids", "target_ids", "target_weights",
                                    "target_weights_as_tensor"};
constexpr weight_names class_names{"class_treeids", "class_nodeids", "class_ids", "class_weights",
                                   "class_weights_as_tensor"};

status add_weights(forest_builder& b, std::span<const node_key> keys, const weight_names& names) {
  const auto trees = b.c.ints_or(names.trees), numbers = b.c.ints_or(names.nodes), ids = b.c.ints_or(names.ids);
  const result<std::span<const double>> values = numbers_of(b.c, names.weights, names.tensor);
  if (!values) return values.error();
  const std::size_t n = ids.size();
  for (const std::size_t count : {trees.size(), numbers.size(), values->size()})
    if (status same = check_count(count, n, "a list of leaf weights"); !same) return same;
  if (n > std::numeric_limits<std::uint32_t>::max()) return status_code::out_of_memory;
  for (std::size_t i = 0; i < n; ++i) {
    const node_key* const at = find_node(keys, trees[i], numbers[i]);
    if (!at) return bad_attribute("a weight is for node ", numbers[i], " of tree ", trees[i], ", which is not there");
    if (ids[i] < 0 || ids[i] >= b.made.targets)
      return bad_attribute(names.ids, " has ", ids[i], "; it must lie in [0,", b.made.targets, ")");
    if (tree_node& node = b.nodes[at->index]; node.how == rule::leaf) ++node.no;
  }
  std::uint32_t total = 0;
  for (tree_node& node : b.nodes)
    if (node.how == rule::leaf) node.yes = std::exchange(total, total + node.no), node.no = node.yes;
  result<std::span<leaf_weight>> weights = b.c.keep<leaf_weight>(total);
  if (!weights) return weights.error();
  for (std::size_t i = 0; i < n; ++i)
    if (tree_node& node = b.nodes[find_node(keys, trees[i], numbers[i])->index]; node.how == rule::leaf)
      (*weights)[node.no++] = {ids[i], (*values)[i]};
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

result<tree_forest> listed_forest(bind_context& c, std::int64_t targets, const weight_names& names) {
  forest_builder b{c};
  b.made.targets = targets;
  const auto modes = c.strings_or("nodes_modes");
  const auto features = c.ints_or("nodes_featureids"), yes = c.ints_or("nodes_truenodeids");
  const auto no = c.ints_or("nodes_falsenodeids"), missing = c.ints_or("nodes_missing_value_tracks_true");
  const auto trees = c.ints_or("nodes_treeids");
  const std::size_t n = modes.size();
  const result<std::span<const double>> splits = numbers_of(c, "nodes_values", "nodes_values_as_tensor");
  if (!splits) return splits.error();
  for (const std::size_t count :
       {features.size(), yes.size(), no.size(), splits->size(), trees.size(), c.ints_or("nodes_nodeids").size()})
    if (status same = check_count(count, n, "a list of nodes"); !same) return same;
  if (n >= std::numeric_limits<std::uint32_t>::max()) return status_code::out_of_memory;
  const result<std::span<const node_key>> keys = index_nodes(c, n);
  if (!keys) return keys.error();
  result<std::span<tree_node>> nodes = c.keep<tree_node>(n);
  if (!nodes) return nodes.error();
  b.nodes = *nodes;
  for (std::size_t i = 0; i < n; ++i) {
    const result<rule> how = rule_named(modes[i]);
    if (!how) return how.error();
    tree_node node{*how, follows_missing(missing, i, n), features[i], (*splits)[i], 0, 0, 0, 0};
    if (*how != rule::leaf) {
      const node_key *const a = find_node(*keys, trees[i], yes[i]), *const z = find_node(*keys, trees[i], no[i]);
      if (!a || !z) return bad_attribute("tree ", trees[i], " has no node ", a ? no[i] : yes[i]);
      if (node.feature < 0) return bad_attribute("nodes_featureids has ", node.feature, ", must not be negative");
      if (node.feature == std::numeric_limits<std::int64_t>::max())
        return bad_attribute("nodes_featureids is too large");
      node.yes = a->index, node.no = z->index;
    }
    b.nodes[i] = node;
  }
  if (status added = add_weights(b, *keys, names); !added) return added;
  if (status done = b.finish(trees); !done) return done;
  return b.made;
}

/// The attributes of TreeEnsemble (version 5): nodes and leaves are separate lists, and a node has a flag for each
/// branch whether it is a leaf.
struct split_lists {
  std::span<const std::int64_t> features, yes, no, yes_leaf, no_leaf, missing, targets;
  std::span<const double> modes, splits, weights, members;
};

result<std::uint32_t> branch(std::int64_t to, bool is_leaf, std::size_t nodes, std::size_t leaves) {
  if (to < 0 || to >= std::int64_t(is_leaf ? leaves : nodes))
    return bad_attribute("a branch leads to ", is_leaf ? "leaf " : "node ", to, ", of which there are ",
                         is_leaf ? leaves : nodes);
  return std::uint32_t(std::size_t(to) + (is_leaf ? nodes : 0));
}

status fill_split_nodes(forest_builder& b, const split_lists& in) {
  const std::size_t n = in.modes.size(), leaves = in.targets.size();
  std::size_t member = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(in.modes[i] >= 0 && in.modes[i] <= 6)) return bad_attribute("nodes_modes must lie in [0,6]");
    const result<std::uint32_t> yes = branch(in.yes[i], in.yes_leaf[i] != 0, n, leaves);
    if (!yes) return yes.error();
    const result<std::uint32_t> no = branch(in.no[i], in.no_leaf[i] != 0, n, leaves);
    if (!no) return no.error();
    if (in.features[i] < 0 || in.features[i] == std::numeric_limits<std::int64_t>::max())
      return bad_attribute("nodes_featureids has ", in.features[i], ", which is not a column");
    tree_node node{
        rule(int(in.modes[i])), follows_missing(in.missing, i, n), in.features[i], in.splits[i], *yes, *no, 0, 0};
    if (node.how == rule::member) {  // sets are consecutive, and each ends with a NaN
      node.members_begin = std::uint32_t(member);
      while (member < in.members.size() && in.members[member] == in.members[member]) ++member;
      node.members_end = std::uint32_t(member);
      if (member++ == in.members.size()) return bad_attribute("membership_values must have a NaN after each set");
    }
    b.nodes[i] = node;
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    if (in.targets[i] < 0 || in.targets[i] >= b.made.targets)
      return bad_attribute("leaf_targetids has ", in.targets[i], "; it must lie in [0,", b.made.targets, ")");
    b.nodes[n + i] = {rule::leaf, false, 0, 0, std::uint32_t(i), std::uint32_t(i + 1), 0, 0};
  }
  return {};
}

result<tree_forest> split_forest(bind_context& c, std::int64_t targets) {
  forest_builder b{c};
  b.made.targets = targets;
  const result<std::span<const double>> modes = numbers_of(c, "", "nodes_modes"),
                                        splits = numbers_of(c, "", "nodes_splits"),
                                        weights = numbers_of(c, "", "leaf_weights"),
                                        members = numbers_of(c, "", "membership_values");
  for (const auto* list : {&modes, &splits, &weights, &members})
    if (!*list) return list->error();
  const split_lists in{c.ints_or("nodes_featureids"),
                       c.ints_or("nodes_truenodeids"),
                       c.ints_or("nodes_falsenodeids"),
                       c.ints_or("nodes_trueleafs"),
                       c.ints_or("nodes_falseleafs"),
                       c.ints_or("nodes_missing_value_tracks_true"),
                       c.ints_or("leaf_targetids"),
                       *modes,
                       *splits,
                       *weights,
                       *members};
  const std::size_t n = modes->size(), leaves = in.targets.size();
  for (const std::size_t count :
       {in.features.size(), in.yes.size(), in.no.size(), in.yes_leaf.size(), in.no_leaf.size(), splits->size()})
    if (status same = check_count(count, n, "a list of nodes"); !same) return same;
  if (status same = check_count(weights->size(), leaves, "leaf_weights"); !same) return same;
  if (n + leaves + members->size() >= std::numeric_limits<std::uint32_t>::max()) return status_code::out_of_memory;
  const result<std::span<tree_node>> nodes = c.keep<tree_node>(n + leaves);
  if (!nodes) return nodes.error();
  b.nodes = *nodes;
  if (status filled = fill_split_nodes(b, in); !filled) return filled;
  const std::span<const std::int64_t> from = c.ints_or("tree_roots");
  const result<std::span<std::uint32_t>> roots = c.keep<std::uint32_t>(from.size());
  if (!roots) return roots.error();
  // A tree that consists of a leaf is a node whose two branches are that leaf.
  for (std::size_t i = 0; i < from.size(); ++i) {
    const result<std::uint32_t> root = branch(from[i], false, n, leaves);
    if (!root) return root.error();
    (*roots)[i] = *root;
  }
  b.roots = *roots;
  const result<std::span<leaf_weight>> kept = c.keep<leaf_weight>(leaves);
  if (!kept) return kept.error();
  for (std::size_t i = 0; i < leaves; ++i) (*kept)[i] = {in.targets[i], (*weights)[i]};
  b.made.weights = *kept, b.made.members = *members;
  if (status done = b.finish(); !done) return done;
  return b.made;
}

status check_base(std::span<const double> base, std::int64_t targets) {
  if (base.empty() || std::int64_t(base.size()) == targets) return {};
  return bad_attribute("base_values has ", base.size(), " elements, must have ", targets);
}

/// Calls f(row, scores, hit) for all rows, on several threads. hit[t] is true if a leaf has a weight for target t.
template <class F>
status each_row(run_context& c, const tree_forest& forest, const feature_rows& size, const F& f) {
  if (size.rows > 0 && size.columns < forest.features)
    return bad_input("X has shape ", c.input(0).shape, "; its trees need ", forest.features, " columns");
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
  const std::int64_t targets = c.int_or("n_targets", 1), transform = c.int_or("post_transform", 0);
  result<tree_forest> forest = split_forest(c, targets);
  if (!forest) return forest.error();
  const std::int64_t how = c.int_or("aggregate_function", 1);
  forest->how = tree_forest::aggregate(how);
  return tree_ensemble{*forest, {}, score_transform(transform)};
}

result<tree_ensemble_regressor> tree_ensemble_regressor::bind(bind_context& c) {
  const std::int64_t targets = c.int_or("n_targets", 1);
  result<tree_forest> forest = listed_forest(c, targets, target_names);
  if (!forest) return forest.error();
  if (status read = read_choice(c, "aggregate_function", {"AVERAGE", "SUM", "MIN", "MAX"}, forest->how); !read)
    return read;
  const result<std::span<const double>> base = numbers_of(c, "base_values", "base_values_as_tensor");
  if (!base) return base.error();
  if (status fits = check_base(*base, targets); !fits) return fits;
  tree_ensemble_regressor made{{*forest, *base}};
  if (status read = read_transform(c, made.transform); !read) return read;
  return made;
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
  tree_ensemble_classifier made;
  made.labels = {c.strings_or("classlabels_strings"), c.ints_or("classlabels_int64s")};
  if (made.labels.count() < 1) return bad_attribute("it needs classlabels_strings or classlabels_int64s");
  result<tree_forest> forest = listed_forest(c, made.labels.count(), class_names);
  if (!forest) return forest.error();
  made.forest = *forest;
  const result<std::span<const double>> base = numbers_of(c, "base_values", "base_values_as_tensor");
  if (!base) return base.error();
  if (base->size() > std::size_t(made.labels.count())) return check_base(*base, made.labels.count());
  made.base = *base;
  if (status read = read_transform(c, made.transform); !read) return read;
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
