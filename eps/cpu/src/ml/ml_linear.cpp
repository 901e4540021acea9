#include <cameo/eps/cpu/ml_linear.hpp>

#include "feature_walk.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

status read_scores(const bind_context& c, linear_scores& made) {
  made.coefficients = c.floats_or("coefficients"), made.intercepts = c.floats_or("intercepts");
  return read_transform(c, made.transform);
}
status check_counts(const linear_scores& made) {
  if (!made.intercepts.empty() && std::int64_t(made.intercepts.size()) != made.count)
    return bad_attribute("intercepts has ", made.intercepts.size(), " elements, must have ", made.count);
  return {};
}

/// Calls f(row, scores) for each row, with space for two scores at least. A score has as many coefficients as X has
/// columns; files with more coefficients than that exist.
template <class F>
status each_row(run_context& c, const linear_scores& scores, const feature_rows& size, const F& f) {
  const std::size_t given = scores.coefficients.size();
  if (size.columns > std::int64_t(given) / scores.count)
    return bad_input("X has shape ", c.input(0).shape, ", for which ", scores.count, " scores need as many times ",
                     size.columns, " coefficients; there are ", given);
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
  linear_regressor made;
  if (status s = read_scores(c, made); !s) return s;
  made.count = c.int_or("targets", 1);
  if (status s = check_counts(made); !s) return s;
  return made;
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
  linear_classifier made;
  if (status s = read_scores(c, made); !s) return s;
  made.labels = {c.strings_or("classlabels_strings"), c.ints_or("classlabels_ints")};
  if (made.labels.count() < 1) return bad_attribute("it needs classlabels_strings or classlabels_ints");
  made.count = made.intercepts.empty() ? made.labels.count() : std::int64_t(made.intercepts.size());
  if (made.count != made.labels.count() && !(made.count == 1 && made.labels.count() == 2))
    return bad_attribute("there are ", made.count, " intercepts for ", made.labels.count(), " labels");
  if (status s = check_counts(made); !s) return s;
  return made;
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
