#include "tools.hpp"

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
std::size_t strings_in(const infer_context& c, std::string_view name) {
  const attribute* const a = c.find(name);
  return a ? a->strings.size() : 0;
}
/// The element type of a tensor attribute, or undefined.
dtype type_in(const infer_context& c, std::string_view name) {
  const attribute* const a = c.find(name);
  return a && a->kind == attribute_kind::t && !a->tensors.empty() ? a->tensors[0].type : dtype::undefined;
}

/// Reports the coefficients of a linear model with so many scores that X, as far as its columns are known, does not
/// need.
void report_unused_coefficients(infer_context& c, std::size_t scores) {
  const attribute* const coefficients = c.find("coefficients");
  const dims* const x = c.shape(0);
  if (!coefficients || !x || x->empty() || !x->back().known()) return;
  std::size_t needed = 0;
  const std::size_t given = coefficients->floats.size();
  if (checked_multiply(scores, std::size_t(x->back().size), needed) && given > needed)
    c.report_unused_coefficients(given, needed);
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
  dtype to = type_in(c, "values_tensor");
  if (to == dtype::undefined) {
    if (c.version().since == 1) to = c.element(0) == dtype::string ? dtype::i64 : dtype::string;
    else if (c.find("values_strings")) to = dtype::string;
    else if (c.find("values_int64s")) to = dtype::i64;
    else if (c.find("values_floats")) to = dtype::f32;
  }
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
  const std::size_t n = std::max(strings_in(c, "string_vocabulary"), c.ints_or("int64_vocabulary").size());
  return give(c, 0, map->element->type, dims{dim::fixed(1), size_of(n)});
}

status ml_feature_vectorizer(infer_context& c) {
  std::int64_t columns = 0;
  for (const std::int64_t n : c.ints_or("inputdimensions"))
    if (n < 0 || !checked_add(columns, n, columns)) return invalid("inputdimensions must be sizes, not negative");
  return give(c, 0, dtype::f32, dims{rows_of(c), dim::fixed(columns)});
}

status ml_one_hot_encoder(infer_context& c) {
  std::optional<dims> out = copy_of(c.shape(0));
  if (out) out->push_back(size_of(std::max(strings_in(c, "cats_strings"), c.ints_or("cats_int64s").size())));
  return give(c, 0, dtype::f32, std::move(out));
}

status ml_regressor(infer_context& c) {
  const std::int64_t targets = c.find("targets") ? c.int_or("targets", 1) : c.int_or("n_targets", 1);
  if (targets < 1) return invalid("the number of targets is ", targets, ", must be at least 1");
  return give(c, 0, dtype::f32, dims{rows_of(c), dim::fixed(targets)});
}

status ml_linear_regressor(infer_context& c) {
  const status done = ml_regressor(c);
  if (done) report_unused_coefficients(c, std::size_t(c.int_or("targets", 1)));
  return done;
}

status ml_tree_ensemble(infer_context& c) {
  const std::int64_t targets = c.int_or("n_targets", 1);
  if (targets < 1) return invalid("n_targets is ", targets, ", must be at least 1");
  return give(c, 0, c.element(0), dims{rows_of(c), dim::fixed(targets)});
}

/// Scores may have more columns than there are labels, so their number is unknown.
status ml_classifier(infer_context& c) {
  const bool strings = strings_in(c, "classlabels_strings") > 0;
  give(c, 0, strings ? dtype::string : dtype::i64, dims{rows_of(c)});
  return give(c, 1, dtype::f32, dims{rows_of(c), dim{}});
}

status ml_linear_classifier(infer_context& c) {
  const attribute* const intercepts = c.find("intercepts");
  const std::size_t labels = std::max(strings_in(c, "classlabels_strings"), c.ints_or("classlabels_ints").size());
  report_unused_coefficients(c, intercepts && !intercepts->floats.empty() ? intercepts->floats.size() : labels);
  return ml_classifier(c);
}

status ml_zip_map(infer_context& c) {
  const bool strings = strings_in(c, "classlabels_strings") > 0;
  const value_type number = value_type::tensor(dtype::f32, dims{});
  const value_type made = value_type::sequence(value_type::map(strings ? dtype::string : dtype::i64, number));
  return give(c, 0, &made);
}

status ml_cast_map(infer_context& c) {
  const std::string_view to = c.string_or("cast_to", "TO_FLOAT");
  const dim size = c.string_or("map_form", "DENSE") == "SPARSE" ? dim::fixed(c.int_or("max_map", 1)) : dim{};
  return give(c, 0,
              to == "TO_INT64"    ? dtype::i64
              : to == "TO_STRING" ? dtype::string
                                  : dtype::f32,
              dims{dim::fixed(1), size});
}

}  // namespace CAMEO_NAMESPACE::infer
