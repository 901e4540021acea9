#include <cameo/eps/cpu/mean_variance_normalization.hpp>
#include <cameo/op/attributes/contrib.hpp>

#include <cmath>

#include "functions/moments.hpp"
#include "skeletons/reduce.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t default_axes[] = {0, 2, 3}, all_axes[] = {0, 1, 2, 3};
constexpr double epsilon = 1e-9;

template <class C>
struct normalized_tensors {
  const row_rooms<C>&x, &y;
  std::size_t lane;

  /// Calls f(row, offset of the row) for all rows of n elements that share a mean and a variance with the row at offset
  /// `start`.
  template <class F>
  void over_rows(const reduce_loops& loops, std::int64_t start, std::int64_t n, F f) const {
    odometer at{loops.gone, 0};
    for (std::int64_t g = 0; g < loops.gone.count; ++g, at.next())
      f(x.read(lane, start + at.offset(), n), start + at.offset());
  }
};

/// Normalizes the rows that share a mean and a variance.
template <class C>
void normalize_rows(const reduce_loops& loops, const normalized_tensors<C>& t, std::int64_t start, bool divides) {
  const std::int64_t n = loops.row;
  const auto over_rows = [&](auto f) { t.over_rows(loops, start, n, f); };
  double sum = 0, squares = 0;
  over_rows([&](const C* x, std::int64_t) { sum += sum_of(x, n, [](double v) { return v; }); });
  const double mean = sum / double(loops.reduced);
  over_rows(
      [&](const C* x, std::int64_t) { squares += sum_of(x, n, [mean](double v) { return (v - mean) * (v - mean); }); });
  const double scale = divides ? 1 / (std::sqrt(squares / double(loops.reduced)) + epsilon) : 1;
  over_rows([&](const C* x, std::int64_t at) {
    C* const y = t.y.room(t.lane, at);
    for (std::int64_t i = 0; i < n; ++i) y[i] = C((double(x[i]) - mean) * scale);
    t.y.store(t.lane, at, n);
  });
}

/// Normalizes n columns (reduce_loops::columns at most), each with a separate mean and variance.
template <class C>
void normalize_columns(const reduce_loops& loops, const normalized_tensors<C>& t, std::int64_t start, std::int64_t n,
                       bool divides) {
  double mean[reduce_loops::columns] = {}, scale[reduce_loops::columns] = {};
  const auto over_rows = [&](auto f) { t.over_rows(loops, start, n, f); };
  over_rows([&](const C* x, std::int64_t) {
    for (std::int64_t i = 0; i < n; ++i) mean[i] += double(x[i]);
  });
  for (std::int64_t i = 0; i < n; ++i) mean[i] /= double(loops.reduced);
  over_rows([&](const C* x, std::int64_t) {
    for (std::int64_t i = 0; i < n; ++i) scale[i] += (double(x[i]) - mean[i]) * (double(x[i]) - mean[i]);
  });
  for (std::int64_t i = 0; i < n; ++i)
    scale[i] = divides ? 1 / (std::sqrt(scale[i] / double(loops.reduced)) + epsilon) : 1;
  over_rows([&](const C* x, std::int64_t at) {
    C* const y = t.y.room(t.lane, at);
    for (std::int64_t i = 0; i < n; ++i) y[i] = C((double(x[i]) - mean[i]) * scale[i]);
    t.y.store(t.lane, at, n);
  });
}

}  // namespace

result<mean_variance_normalization> mean_variance_normalization::bind(bind_context& c) {
  mean_variance_normalization made;
  const attributes_of<op::contrib::MeanVarianceNormalization> a{c.attributes};
  if (a.axes.given) made.axes.listed = a.axes;
  else if (a.across_channels) made.axes.listed = all_axes;
  else made.axes.listed = default_axes;
  made.divides = a.normalize_variance != 0;
  c.may_overwrite(0, 0);
  return made;
}

template <class C>
status mean_variance_normalization::run_as(run_context& c) const {
  const value& x = c.input(0);
  const auto reduction = axes.reduction_of(c, x.shape);
  if (!reduction) return reduction.error();
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  reduce_loops loops;
  loops.make(x.shape, reduction->axes.mask);
  constexpr std::int64_t columns = reduce_loops::columns;
  const std::int64_t stretches = loops.row_stays ? (loops.row + columns - 1) / columns : 1;
  const std::int64_t width = loops.row_stays ? std::min(columns, loops.row) : loops.row;
  const auto from = row_rooms<C>::make(c, x, 1, width), y = row_rooms<C>::make(c, **out, 1, width);
  if (!from || !y) return status_code::out_of_memory;
  parallel_each_row(c, loops.units(), 1, [&](std::int64_t unit, std::size_t lane) {
    const normalized_tensors<C> tensors{*from, *y, lane};
    const std::int64_t column = unit % stretches * columns;
    const std::int64_t start = odometer{loops.kept, unit / stretches}.offset() + column;
    if (loops.row_stays) normalize_columns(loops, tensors, start, std::min(columns, loops.row - column), divides);
    else normalize_rows(loops, tensors, start, divides);
  });
  return {};
}

status mean_variance_normalization::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
