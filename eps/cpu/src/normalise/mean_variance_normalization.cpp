#include <cameo/eps/cpu/mean_variance_normalization.hpp>

#include <cmath>

#include "common/float_values.hpp"
#include "moments.hpp"
#include "reduce/reduce_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr std::int64_t default_axes[] = {0, 2, 3};
constexpr double epsilon = 1e-9;

/// Rows that belong to one statistic.
template <class C>
void normalize_rows(const reduce_loops& loops, const C* x, C* y) {
  const auto over_rows = [&](auto f) {
    odometer at{loops.gone, 0};
    for (std::int64_t g = 0; g < loops.gone.count; ++g, at.next()) f(at.offset());
  };
  double sum = 0, squares = 0;
  over_rows([&](std::int64_t at) { sum += sum_of(x + at, loops.row, [](double v) { return v; }); });
  const double mean = sum / double(loops.reduced);
  over_rows([&](std::int64_t at) {
    squares += sum_of(x + at, loops.row, [mean](double v) { return (v - mean) * (v - mean); });
  });
  const double scale = 1 / (std::sqrt(squares / double(loops.reduced)) + epsilon);
  over_rows([&](std::int64_t at) {
    for (std::int64_t i = 0; i < loops.row; ++i) y[at + i] = C((double(x[at + i]) - mean) * scale);
  });
}

/// n columns, each with a statistic of its own; n at most reduce_loops::columns.
template <class C>
void normalize_columns(const reduce_loops& loops, const C* x, C* y, std::int64_t n) {
  double mean[reduce_loops::columns] = {}, scale[reduce_loops::columns] = {};
  const auto over_elements = [&](auto f) {
    odometer at{loops.gone, 0};
    for (std::int64_t g = 0; g < loops.gone.count; ++g, at.next())
      for (std::int64_t i = 0; i < n; ++i) f(at.offset() + i, i);
  };
  over_elements([&](std::int64_t at, std::int64_t i) { mean[i] += double(x[at]); });
  for (std::int64_t i = 0; i < n; ++i) mean[i] /= double(loops.reduced);
  over_elements(
      [&](std::int64_t at, std::int64_t i) { scale[i] += (double(x[at]) - mean[i]) * (double(x[at]) - mean[i]); });
  for (std::int64_t i = 0; i < n; ++i) scale[i] = 1 / (std::sqrt(scale[i] / double(loops.reduced)) + epsilon);
  over_elements([&](std::int64_t at, std::int64_t i) { y[at] = C((double(x[at]) - mean[i]) * scale[i]); });
}

}  // namespace

result<mean_variance_normalization> mean_variance_normalization::bind(bind_context& c) {
  mean_variance_normalization made;
  made.axes.listed = c.ints_or("axes", default_axes);
  c.may_overwrite(0, 0);
  return made;
}

template <class C>
status mean_variance_normalization::run_as(run_context& c) const {
  const value& x = c.input(0);
  std::uint32_t gone = 0;
  if (status found = axes.find(c, x.shape, gone); !found) return found;
  const result<float_output<C>> y = write_floats<C>(c, 0, x.shape);
  if (!y) return y.error();
  if (x.shape.count() == 0) return {};
  const result<std::span<const C>> from = read_floats<C>(c, x);
  if (!from) return from.error();
  reduce_loops loops;
  loops.make(x.shape, gone);
  constexpr std::int64_t columns = reduce_loops::columns;
  const std::int64_t stretches = loops.row_stays ? (loops.row + columns - 1) / columns : 1;
  parallel_for(c, loops.units(), 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t column = unit % stretches * columns;
      const std::int64_t start = odometer{loops.kept, unit / stretches}.offset() + column;
      if (loops.row_stays)
        normalize_columns(loops, from->data() + start, y->data + start, std::min(columns, loops.row - column));
      else normalize_rows(loops, from->data() + start, y->data + start);
    }
  });
  y->store();
  return {};
}

status mean_variance_normalization::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace cameo::inline CAMEO_ABI::eps
