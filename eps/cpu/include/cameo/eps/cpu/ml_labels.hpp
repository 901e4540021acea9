#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// LabelEncoder in all its versions, and CategoryMapper: y[i] = the value of key x[i] in a table, or the default value.
/// NaN is a key like any other. If a key occurs twice, the first one counts.
struct label_table {
  using elements = detail::element_set<float, double, std::int16_t, std::int32_t, std::int64_t, std::string_view>;
  dtype key_type = dtype::undefined, value_type = dtype::undefined;
  const void* keys = nullptr;    // sorted, of key_type
  const void* values = nullptr;  // the values of the keys, of value_type
  std::int64_t count = 0;
  const void* otherwise = nullptr;  // the default, of value_type
  bool nan_is_key = true;           // a NaN in x matches the key NaN; false before version 4 of LabelEncoder

  status run(run_context&) const;
};
struct label_encoder : label_table {
  static result<label_encoder> bind(bind_context&);
};
struct category_mapper : label_table {
  static result<category_mapper> bind(bind_context&);
};

/// ArrayFeatureExtractor: the columns (last axis) of X with the indices in Y, in that order; for a vector, [1,
/// columns].
struct array_feature_extractor {
  static result<array_feature_extractor> bind(bind_context&) { return array_feature_extractor{}; }
  status run(run_context&) const;
};

/// DictVectorizer: [1, vocabulary] of a map: the values of the vocabulary's keys, 0 or "" for keys that the map lacks.
struct dict_vectorizer {
  using elements = detail::element_set<float, double, std::int16_t, std::int32_t, std::int64_t, std::string_view>;
  std::span<const std::string_view> strings;
  std::span<const std::int64_t> ints;
  static result<dict_vectorizer> bind(bind_context&);
  status run(run_context&) const;
};

/// ZipMap: a map from labels to numbers for each row of X [N, labels]; X may be [labels], which is one row.
struct zip_map {
  std::span<const std::string_view> strings;
  std::span<const std::int64_t> ints;
  static result<zip_map> bind(bind_context&);
  status run(run_context&) const;

 private:
  result<value> map_of(run_context&, const value& keys, const float* row) const;
};

/// CastMap: the values of a map from integers as [1, n], in the order of their keys, or (SPARSE) each at the index of
/// its key, which is below max_map, with zeros in between (as strings "0.f"). Strings are parsed to numbers; numbers
/// are truncated to integers, or printed with six digits after the point.
struct cast_map {
  using elements = detail::element_set<float, std::int64_t, std::string_view>;
  std::int64_t size = -1;  // -1: the size of the map
  dtype target = dtype::f32;
  static result<cast_map> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
