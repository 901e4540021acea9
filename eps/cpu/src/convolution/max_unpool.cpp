#include <cameo/eps/cpu/max_unpool.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<max_unpool> max_unpool::bind(bind_context& c) {
  return window_of(c).transform([](const window& shape) { return max_unpool{shape}; });
}

status max_unpool::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1), &asked = c.input(2);
  const std::size_t rank = x.shape.rank(), bytes = element_bytes(x.type);
  const result<placed_window> placed = shape.place_transposed<std::int64_t>(x.shape, {}, {}, {});
  if (!placed) return placed.error();
  if (indices.shape != x.shape) return bad_input("I ", indices.shape, " must be of the shape of X, ", x.shape);
  extents implied{x.shape[0], x.shape[1]};
  for (std::size_t i = 0; i < placed->rank; ++i) implied.push_back(placed->axes[i].in);
  extents size = implied;
  if (asked) {
    if (status read = read_extents(asked, "output_shape", size); !read) return read;
    bool fits = size.rank() == rank;
    for (std::size_t i = 0; fits && i < rank; ++i) fits = size[i] >= implied[i];
    if (!fits) return bad_input("output_shape ", size, " must be at least ", implied, " along every axis");
  }
  const result<value*> y = c.output(0, size);
  if (!y) return y.error();
  const std::int64_t count = implied.count();
  const integers at{indices};
  for (std::int64_t i = 0; i < at.count(); ++i)
    if (at[i] < 0 || at[i] >= count) return bad_input("index ", at[i], " at ", i, " is not in [0,", count, ")");
  if (size.count() == 0) return {};
  const std::byte zero[16] = {};
  fill(c, (*y)->data, size.count(), zero, bytes);
  const extents from = row_major_strides(implied), to = row_major_strides(size);
  const bool same = size == implied;
  for (std::int64_t i = 0; i < at.count(); ++i) {
    std::int64_t place = at[i];
    if (!same) {
      place = 0;
      for (std::size_t k = 0; k < rank; ++k) place += at[i] / from[k] % implied[k] * to[k];
    }
    move_block(bytes_of(**y) + std::size_t(place) * bytes, bytes_of(x) + std::size_t(i) * bytes, bytes);
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
