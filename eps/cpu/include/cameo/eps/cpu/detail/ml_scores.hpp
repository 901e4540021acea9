#pragma once
#include <cameo/kernel/bind_context.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

// Types and functions that operators of ai.onnx.ml with scores share.

using score_transform = op::post_transform_choice;
/// Applies a transform to scores[n], in place.
void transform_scores(score_transform, double* scores, std::int64_t n);
double logistic(double);
double probit(double);

/// How one score is extended to the scores of two classes.
enum class second_class : std::uint8_t {
  none,        // one score only
  complement,  // 1 - s and s
  opposite     // -s and s
};
/// Transforms the `n` scores of a row, extends a single score to two classes, and rounds all to float. `scores` has
/// space for two elements at least. Returns the resulting number of scores.
std::int64_t finish_scores(score_transform, second_class, double* scores, std::int64_t n);

/// The attribute classlabels of a classifier: strings or integers. The spans point into the plan.
struct class_labels {
  std::span<const std::string_view> strings;
  std::span<const std::int64_t> ints;
  std::int64_t count() const { return std::int64_t(strings.empty() ? ints.size() : strings.size()); }
  /// Writes label k to element i of a tensor of strings or int64.
  void put(const value& y, std::int64_t i, std::int64_t k) const {
    if (!strings.empty()) static_cast<std::string_view*>(y.data)[i] = strings[std::size_t(k)];
    else static_cast<std::int64_t*>(y.data)[i] = ints[std::size_t(k)];
  }
  dtype type() const { return strings.empty() ? dtype::i64 : dtype::string; }
};

/// The shape of X [N, F]; a vector [F] is one row.
struct feature_rows {
  std::int64_t rows, columns;
};
feature_rows rows_of(const value& x);
/// Reads a row of a tensor of numbers as double.
void read_row(const value& x, std::int64_t row, std::int64_t columns, double* to);

/// Returns the numbers of an attribute that is a tensor, or of one that lists floats, as double in the plan's memory;
/// empty if the node has neither. `name` is that of the tensor.
result<std::span<const double>> numbers_of(bind_context&, std::string_view name, attribute_tensor tensor,
                                           std::span<const float> floats = {});

}  // namespace CAMEO_NAMESPACE::eps
