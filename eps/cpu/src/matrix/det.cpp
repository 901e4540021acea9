#include <cameo/eps/cpu/det.hpp>

#include <algorithm>
#include <cmath>

#include "operands/usable_sizes.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The determinant of the n x n matrix at m, which is overwritten: Gaussian elimination with partial pivoting.
double determinant(double* m, std::int64_t n) {
  double product = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(m + k * n + k, m + k * n + n, m + pivot * n + k);
      product = -product;
    }
    const double head = m[k * n + k];
    product *= head;
    if (head == 0) return product;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / head;
      for (std::int64_t j = k + 1; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return product;
}

}  // namespace

status det::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const std::int64_t n = x.shape.back(), cells = n * n;
  extents shape = x.shape;
  shape.resize(rank - 2);
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  const auto scratch = c.scratch<double>(c.lanes() * std::size_t(cells));
  if (!scratch) return scratch.error();
  c.parallel_lanes(std::size_t(shape.count()), [&](std::size_t i, std::size_t lane) {
    double* const m = scratch->data() + std::int64_t(lane) * cells;
    load_floats(x, std::int64_t(i) * cells, m, cells);
    const double found = determinant(m, n);
    save_floats(&found, **y, std::int64_t(i), 1);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
