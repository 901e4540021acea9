#include <cameo/eps/cpu/ml_linear.hpp>
#include <cameo/op/attributes/ml.hpp>

#include "feature_walk.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Calls f(row, scores) for each row, with space for two scores at least. A score has as many coefficients as X has
/// columns; files with more coefficients than that exist.
template <class F>
status each_row(run_context& c, const linear_scores& scores, const feature_rows& size, const F& f) {
  const std::int64_t most = std::int64_t(scores.coefficients.size()) / scores.count;
  if (status s = check_number("the number of X's columns", size.columns, 0, most); !s) return s;
  return each_feature_row(c, size, size.columns, scores.count + 1, 16,
                          [&](std::int64_t row, const double* x, double* made, std::size_t) {
                            scores.score(x, size.columns, made);
                            f(row, made);
                          });
}

}  // namespace

void linear_scores::score(const double* x, std::int64_t columns, double* scores) const {
  for (std::int64_t k = 0; k < count; ++k) {
    double sum = intercepts.empty() ? 0 : double(intercepts[std::size_t(k)]);
    for (std::int64_t j = 0; j < columns; ++j) sum += x[j] * double(coefficients[std::size_t(k * columns + j)]);
    scores[k] = sum;
  }
}

result<linear_regressor> linear_regressor::bind(bind_context& c) {
  const attributes_of<op::ml::LinearRegressor> a{c.attributes};
  if (!a.intercepts.empty())
    if (status s = of_model(check_count("intercepts", std::int64_t(a.intercepts.size()), a.targets)); !s) return s;
  return linear_regressor{{a.coefficients, a.intercepts, a.targets, a.post_transform}};
}

status linear_regressor::run(run_context& c) const {
  const feature_rows size = rows_of(c.input(0));
  const result<tensor_view<float>> y = c.output<float>(0, {size.rows, count});
  if (!y) return y.error();
  return each_row(c, *this, size, [&](std::int64_t row, double* scores) {
    finish_scores(transform, second_class::none, scores, count);
    for (std::int64_t k = 0; k < count; ++k) (*y)[row * count + k] = float(scores[k]);
  });
}

result<linear_classifier> linear_classifier::bind(bind_context& c) {
  const attributes_of<op::ml::LinearClassifier> a{c.attributes};
  const class_labels labels{a.classlabels_strings, a.classlabels_ints};
  const std::int64_t count = a.intercepts.empty() ? labels.count() : std::int64_t(a.intercepts.size());
  if (status s = check_given("classlabels_strings or classlabels_ints", labels.count() > 0); !s) return s;
  if (count != 1 || labels.count() != 2)
    if (status s = of_model(check_count("intercepts", count, labels.count())); !s) return s;
  return linear_classifier{{a.coefficients, a.intercepts, count, a.post_transform}, labels};
}

status linear_classifier::run(run_context& c) const {
  const feature_rows size = rows_of(c.input(0));
  const bool pair = count == 1 && labels.count() == 2;
  const std::int64_t columns = pair && transform != score_transform::probit ? 2 : count;
  const auto outputs = classifier_outputs::make(c, labels, size.rows, columns);
  if (!outputs) return outputs.error();
  return each_row(c, *this, size, [&](std::int64_t row, double* scores) {
    outputs->put_label(row, pair ? scores[0] > 0 : std::max_element(scores, scores + count) - scores);
    const second_class second = pair ? second_class::complement : second_class::none;
    outputs->put_scores(row, scores, finish_scores(transform, second, scores, count));
  });
}

}  // namespace CAMEO_NAMESPACE::eps
