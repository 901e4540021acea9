#include <cameo/eps/cpu/affine_grid.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {
constexpr std::size_t most_axes_of_grid = 3;
constexpr std::int64_t places_at_once = 64;
}  // namespace

result<affine_grid> affine_grid::bind(bind_context& c) {
  return affine_grid{attributes_of<op::AffineGrid>{c.attributes}.align_corners != 0};
}

/// Computes the grid in C. `size` is [N, C, out...], and was checked.
template <class C>
status affine_grid::run_as(run_context& c, const extents& size) const {
  const std::size_t axes = size.rank() - 2;
  extents shape{size[0]};
  for (std::size_t i = 0; i < axes; ++i) shape.push_back(size[i + 2]);
  shape.push_back(std::int64_t(axes));
  if (status s = usable_sizes("the grid", shape); !s) return s;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const value& theta = c.input(0);
  const std::int64_t places = shape.count(1, axes + 1);
  parallel_for(c, size[0] * places, 1 << 12, [&](std::int64_t first, std::int64_t last) {
    C made[places_at_once * most_axes_of_grid], matrix[most_axes_of_grid * (most_axes_of_grid + 1)];
    std::int64_t held = 0;
    for (std::int64_t p = first; p < last; ++p) {
      C at[most_axes_of_grid];
      if (p == first || p % places == 0)
        load_floats(theta, p / places * std::int64_t(axes * (axes + 1)), matrix, std::int64_t(axes * (axes + 1)));
      std::int64_t rest = p % places;
      for (std::size_t i = 0; i < axes; ++i) {  // the first coordinate is that of the image's last axis
        const std::int64_t n = shape[axes - i], k = rest % n;
        at[i] = k == n - 1 ? C(1) : C(-1) + C(k) * (C(2) / C(n - 1));
        if (!align_corners) at[i] = at[i] * C(n - 1) / C(n);
        rest /= n;
      }
      const C* row = matrix;
      for (std::size_t i = 0; i < axes; ++i, row += axes + 1) {
        C sum = 0;
        for (std::size_t j = 0; j < axes; ++j) sum += row[j] * at[j];
        made[std::size_t(held) * axes + i] = sum + row[axes];
      }
      if (++held < places_at_once && p + 1 < last) continue;
      save_floats(made, **y, (p + 1 - held) * std::int64_t(axes), held * std::int64_t(axes));
      held = 0;
    }
  });
  return {};
}

status affine_grid::run(run_context& c) const {
  const value &theta = c.input(0), &sizes = c.input(1);
  const std::int64_t rank = sizes.shape.count(), axes = rank - 2;
  extents size;
  for (std::int64_t i = 0; i < rank; ++i) size.push_back(integers{sizes}[i]);
  if (status s = check_shape("theta", theta.shape, {size[0], axes, axes + 1}); !s) return s;
  for (std::int64_t n : size.dims())
    if (status s = check_at_least("an element of size", n, 0); !s) return s;
  return theta.type == dtype::f64 ? run_as<double>(c, size) : run_as<float>(c, size);
}

}  // namespace CAMEO_NAMESPACE::eps
