#include <cameo/eps/cpu/ml_features.hpp>
#include <cameo/op/attributes/ml.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Calls f(const T* x) for the type of a numeric tensor.
template <class F>
status with_numbers(const value& x, F&& f) {
  return table_elements::visit(x.type, status{},
                               [&]<class T>(std::type_identity<T>) { return f(static_cast<const T*>(x.data)); });
}
/// True for NaN; false for all integers.
template <class T>
bool is_nan(T v) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(v);
  else return false;
}
std::int64_t columns_of(const extents& shape) { return shape.rank() == 0 ? 1 : shape.back(); }

status check_columns(std::string_view name, std::size_t count, std::int64_t columns) {
  return count == 1 ? status{} : check_count(name, std::int64_t(count), columns);
}

}  // namespace

result<binarizer> binarizer::bind(bind_context& c) {
  return binarizer{op::ml::binarizer_attributes{c.attributes}.threshold};
}

status binarizer::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  return with_numbers(x, [&]<class T>(const T* from) -> status {
    for (std::int64_t i = 0; i < x.shape.count(); ++i)
      static_cast<T*>((*y)->data)[i] = double(from[i]) > double(threshold) ? T(1) : T(0);
    return {};
  });
}

result<scaler> scaler::bind(bind_context& c) {
  const attributes_of<op::ml::Scaler> a{c.attributes};
  if (status s = check_given("offset and scale", !a.offset.empty() && !a.scale.empty()); !s) return s;
  return scaler{a.offset, a.scale};
}

status scaler::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t columns = columns_of(x.shape);
  if (status fits = check_columns("offset", offset.size(), columns); !fits) return fits;
  if (status fits = check_columns("scale", scale.size(), columns); !fits) return fits;
  const result<tensor_view<float>> y = c.output<float>(0, x.shape);
  if (!y) return y.error();
  return with_numbers(x, [&]<class T>(const T* from) -> status {
    for (std::int64_t i = 0; i < x.shape.count(); ++i) {
      const auto column = std::size_t(i % columns);
      (*y)[i] = (float(from[i]) - offset[offset.size() == 1 ? 0 : column]) * scale[scale.size() == 1 ? 0 : column];
    }
    return {};
  });
}

result<normalizer> normalizer::bind(bind_context& c) {
  return normalizer{attributes_of<op::ml::Normalizer>{c.attributes}.norm};
}

status normalizer::run(run_context& c) const {
  using op::norm_choice;
  const value& x = c.input(0);
  const std::int64_t columns = columns_of(x.shape);
  const result<tensor_view<float>> y = c.output<float>(0, x.shape);
  if (!y) return y.error();
  const std::int64_t rows = columns == 0 ? 0 : x.shape.count() / columns;
  return with_numbers(x, [&]<class T>(const T* from) -> status {
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* const in = from + r * columns;
      float* const out = y->data() + r * columns;
      double by = how == norm_choice::max ? -std::numeric_limits<double>::infinity() : 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto v = double(in[j]);
        by = how == norm_choice::max ? std::max(by, v) : by + (how == norm_choice::l1 ? std::abs(v) : v * v);
      }
      if (how == norm_choice::l2) by = std::sqrt(by);
      for (std::int64_t j = 0; j < columns; ++j) out[j] = float(by == 0 ? double(in[j]) : double(in[j]) / by);
    }
    return {};
  });
}

result<imputer> imputer::bind(bind_context& c) {
  const attributes_of<op::ml::Imputer> a{c.attributes};
  const bool given = !a.imputed_value_floats.empty() || !a.imputed_value_int64s.empty();
  if (status s = check_given("imputed_value_floats or imputed_value_int64s", given); !s) return s;
  return imputer{a.imputed_value_floats, a.imputed_value_int64s, a.replaced_value_float, a.replaced_value_int64};
}

status imputer::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const std::int64_t columns = columns_of(x.shape);
  return with_numbers(x, [&]<class T>(const T* from) -> status {
    T* const to = static_cast<T*>((*y)->data);
    const auto replace = [&](const auto& imputed, auto replaced, std::string_view what) -> status {
      if (status s = check_needs("X", true, what, !imputed.empty()); !s) return s;
      if (status fits = check_columns(what, imputed.size(), columns); !fits) return fits;
      for (std::int64_t i = 0; i < x.shape.count(); ++i) {
        const T v = from[i];
        const bool same = is_nan(replaced) ? is_nan(v) : v == T(replaced);
        to[i] = same ? T(imputed[imputed.size() == 1 ? 0 : std::size_t(i % columns)]) : v;
      }
      return {};
    };
    if constexpr (std::is_integral_v<T>) return replace(ints, replaced_int, "imputed_value_int64s");
    else return replace(floats, replaced_float, "imputed_value_floats");
  });
}

result<feature_vectorizer> feature_vectorizer::bind(bind_context& c) {
  const feature_vectorizer made{attributes_of<op::ml::FeatureVectorizer>{c.attributes}.inputdimensions};
  std::int64_t sum = 0;
  for (const std::int64_t n : made.widths)
    if (status s = of_model(check_fits("inputdimensions", checked_add(sum, n, sum))); !s) return s;
  const auto count = std::int64_t(made.widths.size());
  if (status s = of_model(check_count("inputdimensions", count, std::int64_t(c.inputs.size()))); !s) return s;
  return made;
}

status feature_vectorizer::run(run_context& c) const {
  const auto rows_in = [](const extents& x) { return x.rank() < 2 ? std::int64_t{1} : x[0]; };
  const std::int64_t rows = rows_in(c.input(0).shape);
  std::int64_t width = 0, before = 0;
  for (const std::int64_t n : widths) width += n;
  const result<tensor_view<float>> y = c.output<float>(0, {rows, width});
  if (!y) return y.error();
  std::fill_n(y->data(), y->count(), 0.0f);
  if (y->empty()) return {};
  for (std::size_t i = 0; i < widths.size(); before += widths[i++]) {
    const value& x = c.input(i);
    if (status s = check_count("a column of X", rows_in(x.shape), rows); !s) return s;
    const std::int64_t columns = x.shape.count() / rows, n = std::min(columns, widths[i]);
    const status copied = with_numbers(x, [&]<class T>(const T* from) -> status {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < n; ++j) (*y)[r * width + before + j] = float(from[r * columns + j]);
      return {};
    });
    if (!copied) return copied;
  }
  return {};
}

result<one_hot_encoder> one_hot_encoder::bind(bind_context& c) {
  const attributes_of<op::ml::OneHotEncoder> a{c.attributes};
  const bool one = a.cats_int64s.empty() != a.cats_strings.empty();
  if (status s = check_given("either cats_int64s or cats_strings", one); !s) return s;
  return one_hot_encoder{a.cats_int64s, a.cats_strings, a.zeros != 0};
}

status one_hot_encoder::run(run_context& c) const {
  const value& x = c.input(0);
  const auto n = std::int64_t(std::max(ints.size(), strings.size()));
  if (status s = check_fits("X with another axis", x.shape.rank() < max_rank); !s) return s;
  if ((x.type == dtype::string) != ints.empty())
    return check_type("X", x.type, ints.empty() ? dtype::string : dtype::i64);
  extents shape = x.shape;
  shape.push_back(n);
  const result<tensor_view<float>> y = c.output<float>(0, shape);
  if (!y) return y.error();
  std::fill_n(y->data(), y->count(), 0.0f);
  for (std::int64_t i = 0; i < x.shape.count(); ++i) {
    std::int64_t category = 0, at = n;
    if (x.type == dtype::string) {
      const auto found = std::ranges::find(strings, x.as_unchecked<std::string_view>()[i]);
      at = found - strings.begin();
    } else if (integer_at(x, i, category)) {
      at = std::ranges::find(ints, category) - ints.begin();
    }
    if (at < n) (*y)[i * n + at] = 1;
    else if (!zeros) return bad_input("element ", i, " is none of the ", n, " categories");
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
