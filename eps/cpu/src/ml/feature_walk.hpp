#pragma once
#include <cameo/eps/cpu/detail/ml_scores.hpp>

#include "machine/lane_scratch.hpp"
#include "operands/outputs.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Calls f(row index, x, buffer, worker) for the rows of X, on several workers with at least `grain` rows each: x is
/// the row as double, and the buffer has `more` elements. INVALID_ARGUMENT if X does not have `columns` columns.
template <class F>
status each_feature_row(run_context& c, const feature_rows& size, std::int64_t columns, std::int64_t more,
                        std::int64_t grain, const F& f) {
  const value& x = c.input(0);
  if (status s = check_count("a row of X", size.columns, columns); !s) return s;
  std::int64_t numbers = 0;
  if (!checked_add(columns, more, numbers)) return status_code::out_of_memory;
  const auto rooms = lane_scratch<double>::make(c, std::size_t(numbers));
  if (!rooms) return rooms.error();
  parallel_rows(c, size.rows, grain, [&](std::int64_t first, std::int64_t last, std::size_t lane) {
    double* const row = rooms->at(lane);
    for (std::int64_t r = first; r < last; ++r) {
      read_row(x, r, columns, row);
      f(r, row, row + columns, lane);
    }
  });
  return {};
}

/// The outputs of a classifier, a label and scores for each row. Both are optional.
class classifier_outputs {
 public:
  [[gnu::noinline]] static result<classifier_outputs> make(run_context& c, const class_labels& labels,
                                                           std::int64_t rows, std::int64_t columns) {
    classifier_outputs made;
    made.labels_ = &labels, made.columns_ = columns;
    if (c.has_output(0)) {
      const result<value*> y = c.output(0, {rows});
      if (!y) return y.error();
      if (status s = check_type("Y", (*y)->type, labels.type()); !s) return s;
      made.label_ = *y;
    }
    const result<float*> z = optional_output<float>(c, 1, {rows, columns});
    if (!z) return z.error();
    made.scores_ = *z;
    return made;
  }
  void put_label(std::int64_t row, std::int64_t k) const {
    if (label_) labels_->put(*label_, row, k);
  }
  /// Writes n scores, and 0 for further columns.
  void put_scores(std::int64_t row, const double* from, std::int64_t n) const {
    for (std::int64_t k = 0; scores_ && k < columns_; ++k) scores_[row * columns_ + k] = k < n ? float(from[k]) : 0.0f;
  }

 private:
  const class_labels* labels_ = nullptr;
  const value* label_ = nullptr;
  float* scores_ = nullptr;
  std::int64_t columns_ = 0;
};

}  // namespace CAMEO_NAMESPACE::eps
