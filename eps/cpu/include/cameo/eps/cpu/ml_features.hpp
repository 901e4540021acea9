#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Binarizer: y[i] = x[i] > threshold ? 1 : 0.
struct binarizer {
  using elements = table_elements;
  float threshold = 0;
  static result<binarizer> bind(bind_context&);
  status run(run_context&) const;
};

/// Scaler: y = (x - offset) * scale, with numbers for each column (last axis) or one for all.
struct scaler {
  using elements = table_elements;
  std::span<const float> offset, scale;
  static result<scaler> bind(bind_context&);
  status run(run_context&) const;
};

/// Normalizer: divides each row of X [N, F] by its largest element, by the sum of magnitudes, or by the root of the sum
/// of squares; a row that would be divided by 0 is not changed.
struct normalizer {
  using elements = table_elements;
  op::norm_choice how = op::norm_choice::max;
  static result<normalizer> bind(bind_context&);
  status run(run_context&) const;
};

/// Imputer: replaces elements that are equal to the replaced value (which may be NaN) by the imputed value of their
/// column (last axis), or by one value for all columns.
struct imputer {
  using elements = table_elements;
  std::span<const float> floats;
  std::span<const std::int64_t> ints;
  float replaced_float = 0;
  std::int64_t replaced_int = 0;
  static result<imputer> bind(bind_context&);
  status run(run_context&) const;
};

/// FeatureVectorizer: Y [N, sum of widths] contains the columns of all inputs side by side, each input cut or filled
/// with zeros to its width.
struct feature_vectorizer {
  using elements = table_elements;
  std::span<const std::int64_t> widths;
  static result<feature_vectorizer> bind(bind_context&);
  status run(run_context&) const;
};

/// OneHotEncoder: Y [..., categories] is 1 where x is that category. An unknown category gives a row of zeros, or with
/// zeros = 0 INVALID_ARGUMENT.
struct one_hot_encoder {
  using elements = detail::element_set<float, double, std::int32_t, std::int64_t, std::string_view>;
  std::span<const std::int64_t> ints;
  std::span<const std::string_view> strings;
  bool zeros = true;
  static result<one_hot_encoder> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
