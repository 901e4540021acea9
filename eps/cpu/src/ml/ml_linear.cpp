#include <cameo/eps/cpu/ml_linear.hpp>

#include "common/refuse.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

status read_scores(const bind_context& c, linear_scores& made) {
  made.coefficients = c.floats_or("coefficients"), made.intercepts = c.floats_or("intercepts");
  const result<score_transform> transform = score_transform_named(c.string_or("post_transform", "NONE"));
  if (!transform) return transform.error();
  made.transform = *transform;
  return {};
}
status check_counts(const linear_scores& made) {
  if (made.coefficients.size() % std::size_t(made.count) != 0)
    return bad_attribute("coefficients has ", made.coefficients.size(), " elements, no multiple of ", made.count);
  if (!made.intercepts.empty() && std::int64_t(made.intercepts.size()) != made.count)
    return bad_attribute("intercepts has ", made.intercepts.size(), " elements, must have ", made.count);
  return {};
}

/// Calls f(row, scores) with room for at least two scores.
template <class F>
status each_row(run_context& c, const linear_scores& scores, const F& f) {
  const value& x = c.input(0);
  const result<feature_rows> size = rows_of(x);
  if (!size) return size.error();
  if (std::int64_t(scores.coefficients.size()) / scores.count != size->columns)
    return bad_input("X has shape ", x.shape, ", there are coefficients for ",
                     std::int64_t(scores.coefficients.size()) / scores.count, " columns");
  const auto columns = std::size_t(size->columns), room = std::size_t(scores.count) + 1;
  const result<std::span<double>> scratch = c.scratch<double>((columns + room) * c.lanes());
  if (!scratch) return scratch.error();
  constexpr std::int64_t block = 16;
  c.parallel_lanes(std::size_t((size->rows + block - 1) / block), [&](std::size_t b, std::size_t lane) {
    double* const row = scratch->data() + lane * (columns + room);
    for (std::int64_t r = std::int64_t(b) * block; r < std::min(size->rows, (std::int64_t(b) + 1) * block); ++r) {
      read_row(x, r, size->columns, row);
      scores.score(row, size->columns, row + columns);
      f(r, row + columns);
    }
  });
  return {};
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
  if (made.count < 1) return bad_attribute("targets must be at least 1, not ", made.count);
  if (status s = check_counts(made); !s) return s;
  return made;
}

status linear_regressor::run(run_context& c) const {
  const result<feature_rows> size = rows_of(c.input(0));
  if (!size) return size.error();
  const result<tensor_view<float>> y = c.output<float>(0, {size->rows, count});
  if (!y) return y.error();
  return each_row(c, *this, [&](std::int64_t row, double* scores) {
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
  const result<feature_rows> size = rows_of(c.input(0));
  if (!size) return size.error();
  const std::int64_t columns = count == 1 && labels.count() == 2 && transform != score_transform::probit ? 2 : count;
  value* y = nullptr;
  if (c.has_output(0)) {
    const result<value*> made = c.output(0, {size->rows});
    if (!made) return made.error();
    y = *made;
    if (!labels.fits(*y)) return bad_input("its labels are not of type ", y->type);
  }
  float* z = nullptr;
  if (c.has_output(1)) {
    const result<tensor_view<float>> made = c.output<float>(1, {size->rows, columns});
    if (!made) return made.error();
    z = made->data();
  }
  return each_row(c, *this, [&](std::int64_t row, double* scores) {
    const bool pair = count == 1 && labels.count() == 2;
    if (y) labels.put(*y, row, pair ? scores[0] > 0 : std::max_element(scores, scores + count) - scores);
    finish_scores(transform, pair ? second_class::complement : second_class::none, scores, count);
    if (z)
      for (std::int64_t k = 0; k < columns; ++k) z[row * columns + k] = float(scores[k]);
  });
}

}  // namespace cameo::inline CAMEO_ABI::eps
