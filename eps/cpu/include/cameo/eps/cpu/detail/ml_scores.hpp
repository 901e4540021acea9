#pragma once
#include <cameo/kernel/bind_context.hpp>

namespace CAMEO_NAMESPACE::eps {

// The common part of the operators of ai.onnx.ml that compute scores.

enum class score_transform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };
/// The transform of this name; INVALID_GRAPH for an unknown name.
result<score_transform> score_transform_named(std::string_view name);
/// scores[n], in place.
void transform_scores(score_transform, double* scores, std::int64_t n);
double logistic(double);
double probit(double);

/// How one number stands for the scores of two classes; with `logistic`, its curve at -s and s.
enum class second_class : std::uint8_t {
  none,        // one score only
  complement,  // 1 - s and s
  opposite     // -s and s
};
/// Writes the scores of a row as float: `n` transformed scores; if it is one, with its second. `scores` has room for
/// two. Returns the number of scores written.
std::int64_t finish_scores(score_transform, second_class, double* scores, std::int64_t n);

/// classlabels of a classifier: strings or integers. Spans are the plan's.
struct class_labels {
  std::span<const std::string_view> strings;
  std::span<const std::int64_t> ints;
  std::int64_t count() const { return std::int64_t(strings.empty() ? ints.size() : strings.size()); }
  /// Label k into element i of a tensor of strings or int64.
  void put(const value& y, std::int64_t i, std::int64_t k) const {
    if (!strings.empty()) static_cast<std::string_view*>(y.data)[i] = strings[std::size_t(k)];
    else static_cast<std::int64_t*>(y.data)[i] = ints[std::size_t(k)];
  }
  bool fits(const value& y) const { return y.type == (strings.empty() ? dtype::i64 : dtype::string); }
};

/// X [N, F], or [F] as one row.
struct feature_rows {
  std::int64_t rows, columns;
};
result<feature_rows> rows_of(const value& x);
/// A row of a tensor of numbers as double.
void read_row(const value& x, std::int64_t row, std::int64_t columns, double* to);

/// The numbers of a tensor attribute, or of an attribute of floats, as double in the plan's memory; empty without both.
result<std::span<const double>> numbers_of(bind_context&, std::string_view floats, std::string_view tensor);

}  // namespace CAMEO_NAMESPACE::eps
