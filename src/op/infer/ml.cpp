#include "tools.hpp"

#include <cameo/op/attributes/ml.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The number of rows of X [N, F]; a vector is one row.
dim rows_of(const infer_context& c) {
  const dims* const x = c.shape(0);
  if (!x || x->empty()) return {};
  return x->size() == 1 ? dim::fixed(1) : (*x)[0];
}
dim size_of(std::size_t n) { return dim::fixed(std::int64_t(n)); }
/// The number of elements of a list that has either of two types.
template <class A, class B>
std::size_t length_of(const attribute_list<A>& a, const attribute_list<B>& b) {
  return std::max(a.size(), b.size());
}

/// Reports the coefficients of a linear model with so many scores that X, as far as its columns are known, does not
/// need.
void report_unused_coefficients(infer_context& c, std::size_t given, std::size_t scores) {
  const dims* const x = c.shape(0);
  std::size_t needed = 0;
  if (!x || x->empty() || !x->back().known()) return;
  if (checked_multiply(scores, std::size_t(x->back().size), needed) && given > needed)
    c.report_unused_coefficients(given, needed);
}

status_code give_scores(infer_context& c, dtype type, std::int64_t targets) {
  return give(c, 0, type, dims{rows_of(c), dim::fixed(targets)});
}

}  // namespace

status ml_float_like_input(infer_context& c) { return give(c, 0, dtype::f32, copy_of(c.shape(0))); }

status ml_array_feature_extractor(infer_context& c) {
  std::optional<dims> out = copy_of(c.shape(0));
  if (out) {
    if (out->size() == 1) out->insert(out->begin(), dim::fixed(1));
    const dims* const y = c.shape(1);
    out->back() = y && y->size() == 1 ? (*y)[0] : dim{};
  }
  return give(c, 0, c.element(0), std::move(out));
}

status ml_label_encoder(infer_context& c) {
  const attributes_of<op::ml::LabelEncoder> a{c.attributes()};
  dtype to = dtype::undefined;
  if (a.values_tensor) to = a.values_tensor->type;
  else if (c.version().since == 1) to = c.element(0) == dtype::string ? dtype::i64 : dtype::string;
  else if (a.values_strings.given) to = dtype::string;
  else if (a.values_int64s.given) to = dtype::i64;
  else if (a.values_floats.given) to = dtype::f32;
  return give(c, 0, to, copy_of(c.shape(0)));
}

status ml_category_mapper(infer_context& c) {
  const dtype from = c.element(0);
  if (from != dtype::undefined) give(c, 0, from == dtype::string ? dtype::i64 : dtype::string, copy_of(c.shape(0)));
  return status_code::ok;
}

status ml_dict_vectorizer(infer_context& c) {
  const value_type* const map = c.has_input(0) ? c.input(0) : nullptr;
  if (!map || map->kind != type_kind::map || !map->element) return status_code::ok;
  const attributes_of<op::ml::DictVectorizer> a{c.attributes()};
  return give(c, 0, map->element->type,
              dims{dim::fixed(1), size_of(length_of(a.string_vocabulary, a.int64_vocabulary))});
}

status ml_feature_vectorizer(infer_context& c) {
  std::int64_t columns = 0;
  for (const std::int64_t n : attributes_of<op::ml::FeatureVectorizer>{c.attributes()}.inputdimensions)
    if (!checked_add(columns, n, columns)) return invalid("inputdimensions add up to more than 64 bits hold");
  return give(c, 0, dtype::f32, dims{rows_of(c), dim::fixed(columns)});
}

status ml_one_hot_encoder(infer_context& c) {
  const attributes_of<op::ml::OneHotEncoder> a{c.attributes()};
  std::optional<dims> out = copy_of(c.shape(0));
  if (out) out->push_back(size_of(length_of(a.cats_strings, a.cats_int64s)));
  return give(c, 0, dtype::f32, std::move(out));
}

status ml_regressor(infer_context& c) {
  return give_scores(c, dtype::f32, attributes_of<op::ml::TreeEnsembleRegressor>{c.attributes()}.n_targets.value_or(1));
}

status ml_linear_regressor(infer_context& c) {
  const attributes_of<op::ml::LinearRegressor> a{c.attributes()};
  report_unused_coefficients(c, a.coefficients.size(), std::size_t(a.targets));
  return give_scores(c, dtype::f32, a.targets);
}

status ml_tree_ensemble(infer_context& c) {
  return give_scores(c, c.element(0), attributes_of<op::ml::TreeEnsemble>{c.attributes()}.n_targets.value_or(1));
}

/// Scores may have more columns than there are labels, so their number is unknown.
status ml_classifier(infer_context& c) {
  const attributes_of<op::ml::LinearClassifier> a{c.attributes()};
  give(c, 0, a.classlabels_strings.empty() ? dtype::i64 : dtype::string, dims{rows_of(c)});
  return give(c, 1, dtype::f32, dims{rows_of(c), dim{}});
}

status ml_linear_classifier(infer_context& c) {
  const attributes_of<op::ml::LinearClassifier> a{c.attributes()};
  report_unused_coefficients(
      c, a.coefficients.size(),
      a.intercepts.empty() ? length_of(a.classlabels_strings, a.classlabels_ints) : a.intercepts.size());
  return ml_classifier(c);
}

status ml_zip_map(infer_context& c) {
  const attributes_of<op::ml::ZipMap> a{c.attributes()};
  const value_type number = value_type::tensor(dtype::f32, dims{});
  const dtype label = a.classlabels_strings.empty() ? dtype::i64 : dtype::string;
  const value_type made = value_type::sequence(value_type::map(label, number));
  return give(c, 0, &made);
}

status ml_cast_map(infer_context& c) {
  constexpr dtype types[] = {dtype::f32, dtype::string, dtype::i64};  // of cast_to
  const attributes_of<op::ml::CastMap> a{c.attributes()};
  const dim size = a.map_form == op::map_form_choice::sparse ? dim::fixed(a.max_map) : dim{};
  return give(c, 0, types[std::size_t(a.cast_to)], dims{dim::fixed(1), size});
}

}  // namespace CAMEO_NAMESPACE::infer
