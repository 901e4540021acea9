#pragma once
#include <cameo/eps/cpu/detail/ml_scores.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The scores of rows: x times the transposed coefficients [scores, F], plus intercepts. Sums are double.
struct linear_scores {
  using elements = table_elements;
  std::span<const float> coefficients, intercepts;
  std::int64_t count = 1;
  score_transform transform = score_transform::none;
  void score(const double* x, std::int64_t columns, double* scores) const;
};

struct linear_regressor : linear_scores {
  static result<linear_regressor> bind(bind_context&);
  status run(run_context&) const;
};

/// LinearClassifier: the label of the largest score. If there is one score for two labels, the second label is chosen
/// if the score is above 0.
struct linear_classifier : linear_scores {
  class_labels labels;
  static result<linear_classifier> bind(bind_context&);
  status run(run_context&) const;
};

/// The members that the support vector machines share: kernel functions of rows and support vectors.
struct svm_state {
  using elements = table_elements;
  using kernel_kind = op::kernel_type_choice;
  kernel_kind how = kernel_kind::linear;
  double gamma = 0, coef0 = 0, degree = 0;
  std::span<const float> coefficients, vectors, rho;
  std::int64_t supports = 0;  // 0: `coefficients` are the weights of columns
  score_transform transform = score_transform::none;

  double kernel(const double* x, const float* vector, std::int64_t columns) const;
};

/// SVMRegressor: one number per row; with one_class, 1 or -1 for whether the number is above 0.
struct svm_regressor : svm_state {
  bool one_class = false;
  static result<svm_regressor> bind(bind_context&);
  status run(run_context&) const;
};

/// SVMClassifier: decides between each pair of classes and counts the votes; with prob_a and prob_b, by probabilities
/// that are coupled from those of the pairs (Wu, Lin and Weng, 2004). Without support vectors, a linear score per
/// class.
struct svm_classifier : svm_state {
  std::span<const float> prob_a, prob_b;
  std::span<const std::int64_t> per_class, starts;
  class_labels labels;
  static result<svm_classifier> bind(bind_context&);
  status run(run_context&) const;

 private:
  struct row_scratch;
  std::int64_t decide(const double* x, std::int64_t columns, const row_scratch&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
