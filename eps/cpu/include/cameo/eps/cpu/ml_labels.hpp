#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// y[i] = the value of key x[i] in a table, or the default: LabelEncoder in all its versions, and
/// CategoryMapper. NaN is a key like any other. Of keys given twice the first counts.
struct label_table {
  using elements = detail::element_set<float, double, std::int16_t, std::int32_t, std::int64_t, std::string_view>;
  dtype from = dtype::undefined, to = dtype::undefined;
  const void* keys = nullptr;    // sorted, of type `from`
  const void* values = nullptr;  // the values of the keys, of type `to`
  std::int64_t count = 0;
  const void* otherwise = nullptr;  // the default, of type `to`
  bool nan_is_key = true;           // NaN is found; false before version 4 of LabelEncoder

  status run(run_context&) const;
};
struct label_encoder : label_table {
  static result<label_encoder> bind(bind_context&);
};
struct category_mapper : label_table {
  static result<category_mapper> bind(bind_context&);
};

/// X's columns (last axis) with the indices in Y, in that order; of a vector, [1, columns].
struct array_feature_extractor {
  static result<array_feature_extractor> bind(bind_context&) { return array_feature_extractor{}; }
  status run(run_context&) const;
};

/// [1, vocabulary] from a map: the values of the vocabulary's keys, 0 (or "") for keys that the map lacks.
struct dict_vectorizer {
  using elements = detail::element_set<float, double, std::int16_t, std::int32_t, std::int64_t, std::string_view>;
  std::span<const std::string_view> strings;
  std::span<const std::int64_t> ints;
  static result<dict_vectorizer> bind(bind_context&);
  status run(run_context&) const;
};

/// A map per row of X [N, labels], or [labels] as one row: from labels to the row's numbers.
struct zip_map {
  std::span<const std::string_view> strings;
  std::span<const std::int64_t> ints;
  static result<zip_map> bind(bind_context&);
  status run(run_context&) const;

 private:
  result<value> map_of(run_context&, const value& keys, const float* row) const;
};

/// The values of a map from integers as [1, n]: in the order of their keys, or (SPARSE) each at its key, below max_map,
/// with zeros in between (as text "0.f"). Texts become numbers; numbers are cut to integers, or printed with six digits
/// after the point.
struct cast_map {
  using elements = detail::element_set<float, std::int64_t, std::string_view>;
  std::int64_t size = -1;  // -1: as many as the map has
  dtype to = dtype::f32;
  static result<cast_map> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
