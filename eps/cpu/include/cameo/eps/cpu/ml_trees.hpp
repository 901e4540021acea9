#pragma once
#include <cameo/eps/cpu/detail/ml_scores.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A node of a tree: continues with node `yes` if the comparison of feature and split is true, else with node `no`. The
/// weights of a leaf are the elements [yes, no) of the forest's weights.
struct tree_node {
  enum class rule : std::uint8_t { leq, lt, gte, gt, eq, neq, member, leaf } how;
  bool missing_is_yes;  // the comparison is true for NaN
  std::int64_t feature;
  double split;
  std::uint32_t yes, no;
  std::uint32_t members_begin, members_end;  // of a `member` node: a range of the forest's members
};
struct leaf_weight {
  std::int64_t target;
  double weight;
};

/// The trees of one ensemble, in memory of the plan. Binding checks that there are no cycles and no index out of range.
struct tree_forest {
  using aggregate = op::aggregate_function_choice;
  aggregate how = aggregate::sum;
  std::span<const tree_node> nodes;
  std::span<const std::uint32_t> roots;
  std::span<const leaf_weight> weights;
  std::span<const double> members;
  std::int64_t targets = 1, features = 0;  // the least number of columns of X

  /// Sums the results of all trees for a row of x into scores[targets]; hit[t] is true if any leaf had a weight for
  /// target t. With one target, a leaf has one weight, the first that the file lists for it; with several, all weights.
  void score(const double* x, double* scores, bool* hit) const;
};

/// TreeEnsembleRegressor and TreeEnsemble: [N, targets] of rows of features. Computes in double.
struct tree_ensemble {
  using elements = detail::element_set<float, double, float16, std::int32_t, std::int64_t>;
  tree_forest forest;
  std::span<const double> base;
  score_transform transform = score_transform::none;

  static result<tree_ensemble> bind(bind_context&);
  status run(run_context&) const;
};
struct tree_ensemble_regressor : tree_ensemble {
  static result<tree_ensemble_regressor> bind(bind_context&);
};

/// TreeEnsembleClassifier: labels [N] and scores [N, classes]. With one class, every row has its label. If there are
/// two classes and the leaves have weights for one only, that weight is compared with 0.5 (if no weight is negative) or
/// 0, and the score of the other class is derived from it.
struct tree_ensemble_classifier {
  using elements = detail::element_set<float, double, float16, std::int32_t, std::int64_t>;
  tree_forest forest;
  std::span<const double> base;
  score_transform transform = score_transform::none;
  class_labels labels;
  bool one_weighted = false, all_positive = true;

  static result<tree_ensemble_classifier> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
