#include <cameo/eps/cpu/inverse.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>
#include <cmath>

#include "operands/usable_sizes.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes the inverse of m [n, n], which is overwritten, by Gauss-Jordan elimination with partial pivoting.
void invert(double* m, double* y, std::int64_t n) {
  std::fill_n(y, n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) y[i * n + i] = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + k * n + n, m + pivot * n);
      std::swap_ranges(y + k * n, y + k * n + n, y + pivot * n);
    }
    const double head = m[k * n + k];
    for (std::int64_t j = 0; j < n; ++j) m[k * n + j] /= head, y[k * n + j] /= head;
    for (std::int64_t i = 0; i < n; ++i) {
      const double factor = m[i * n + k];
      if (i == k || factor == 0) continue;
      for (std::int64_t j = 0; j < n; ++j) m[i * n + j] -= factor * m[k * n + j], y[i * n + j] -= factor * y[k * n + j];
    }
  }
}

}  // namespace

status inverse::run(run_context& c) const {
  const value& x = c.input(0);
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  if (x.shape.count() == 0) return {};
  const std::int64_t n = x.shape.back(), cells = n * n;
  const auto scratch = c.scratch<double>(2 * c.lanes() * std::size_t(cells));
  if (!scratch) return scratch.error();
  c.parallel_lanes(std::size_t(x.shape.count() / cells), [&](std::size_t i, std::size_t lane) {
    double *const m = scratch->data() + 2 * std::int64_t(lane) * cells, *const to = m + cells;
    load_floats(x, std::int64_t(i) * cells, m, cells);
    invert(m, to, n);
    save_floats(to, **y, std::int64_t(i) * cells, cells);
  });
  return {};
}

bool row_distances::accepts(const bind_context& c) {
  const attributes_of<op::microsoft::CDist> a{c.attributes};
  return a.metric == "sqeuclidean" || a.metric == "euclidean";
}
result<row_distances> row_distances::bind(bind_context& c) {
  return row_distances{attributes_of<op::microsoft::CDist>{c.attributes}.metric == "euclidean"};
}

status row_distances::run(run_context& c) const {
  const extents &a = c.input(0).shape, &b = c.input(1).shape;
  const result<value*> y = c.output(0, extents{a[0], b[0]});
  if (!y) return y.error();
  const std::int64_t n = a[1], width = b[0];
  elements::call(c.input(0).type, [&]<class T>(std::type_identity<T>) {
    const T *const left = c.input<T>(0).data(), *const right = c.input<T>(1).data();
    T* const to = static_cast<T*>((*y)->data);
    parallel_each(c, a[0], 1 + (1 << 14) / (n * width + 1), [&](std::int64_t i, std::size_t) {
      for (std::int64_t j = 0; j < width; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) {
          const double apart = double(left[i * n + k]) - double(right[j * n + k]);
          sum += apart * apart;
        }
        to[i * width + j] = T(root ? std::sqrt(sum) : sum);
      }
    });
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
