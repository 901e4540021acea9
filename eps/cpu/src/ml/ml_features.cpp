#include <cameo/eps/cpu/ml_features.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "operands/choice.hpp"
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

status check_columns(std::size_t count, std::int64_t columns, std::string_view what, const extents& x) {
  if (count == 1 || std::int64_t(count) == columns) return {};
  return bad_input(what, " has ", count, " elements, X has shape ", x);
}

}  // namespace

result<binarizer> binarizer::bind(bind_context& c) { return binarizer{c.float_or("threshold", 0)}; }

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
  scaler made{c.floats_or("offset"), c.floats_or("scale")};
  if (made.offset.empty() || made.scale.empty()) return bad_attribute("it needs offset and scale");
  return made;
}

status scaler::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t columns = columns_of(x.shape);
  if (status fits = check_columns(offset.size(), columns, "offset", x.shape); !fits) return fits;
  if (status fits = check_columns(scale.size(), columns, "scale", x.shape); !fits) return fits;
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
  normalizer made;
  if (status read = read_choice(c, "norm", {"MAX", "L1", "L2"}, made.how); !read) return read;
  return made;
}

status normalizer::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t columns = columns_of(x.shape);
  const result<tensor_view<float>> y = c.output<float>(0, x.shape);
  if (!y) return y.error();
  const std::int64_t rows = columns == 0 ? 0 : x.shape.count() / columns;
  return with_numbers(x, [&]<class T>(const T* from) -> status {
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* const in = from + r * columns;
      float* const out = y->data() + r * columns;
      double by = how == norm::max ? -std::numeric_limits<double>::infinity() : 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto v = double(in[j]);
        by = how == norm::max ? std::max(by, v) : by + (how == norm::l1 ? std::abs(v) : v * v);
      }
      if (how == norm::l2) by = std::sqrt(by);
      for (std::int64_t j = 0; j < columns; ++j) out[j] = float(by == 0 ? double(in[j]) : double(in[j]) / by);
    }
    return {};
  });
}

result<imputer> imputer::bind(bind_context& c) {
  imputer made{c.floats_or("imputed_value_floats"), c.ints_or("imputed_value_int64s"),
               c.float_or("replaced_value_float", 0), c.int_or("replaced_value_int64", 0)};
  if (made.floats.empty() && made.ints.empty())
    return bad_attribute("it needs imputed_value_floats or imputed_value_int64s");
  return made;
}

status imputer::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const std::int64_t columns = columns_of(x.shape);
  return with_numbers(x, [&]<class T>(const T* from) -> status {
    T* const to = static_cast<T*>((*y)->data);
    const auto replace = [&](const auto& imputed, auto replaced, std::string_view what) -> status {
      if (imputed.empty()) return bad_input("X has elements of ", x.type, ", but there is no ", what);
      if (status fits = check_columns(imputed.size(), columns, what, x.shape); !fits) return fits;
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
  feature_vectorizer made{c.ints_or("inputdimensions")};
  std::int64_t sum = 0;
  for (const std::int64_t n : made.widths)
    if (!checked_add(sum, n, sum)) return bad_attribute("attribute inputdimensions has ", n, ", the sum overflows");
  if (made.widths.size() != c.inputs.size())
    return bad_attribute("inputdimensions has ", made.widths.size(), " sizes for ", c.inputs.size(), " inputs");
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
    if (rows_in(x.shape) != rows) return bad_input("input ", i, " has shape ", x.shape, ", needs ", rows, " rows");
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
  one_hot_encoder made{c.ints_or("cats_int64s"), c.strings_or("cats_strings"), c.int_or("zeros", 1) != 0};
  if (made.ints.empty() == made.strings.empty()) return bad_attribute("it needs either cats_int64s or cats_strings");
  return made;
}

status one_hot_encoder::run(run_context& c) const {
  const value& x = c.input(0);
  const auto n = std::int64_t(std::max(ints.size(), strings.size()));
  if (x.shape.rank() == max_rank) return bad_input("X has shape ", x.shape, ", a rank too high");
  if ((x.type == dtype::string) != ints.empty())
    return bad_input("X has elements of ", x.type, "; its categories have another type");
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
