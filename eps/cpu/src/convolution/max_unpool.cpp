#include <cameo/eps/cpu/max_unpool.hpp>
#include <cameo/op/read_window.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<max_unpool> max_unpool::bind(bind_context& c) {
  return max_unpool{detail::window_of(attributes_of<op::MaxUnpool>{c.attributes})};
}

status max_unpool::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1), &asked = c.input(2);
  const std::size_t rank = x.shape.rank(), bytes = element_bytes(x.type);
  const result<placed_window> placed = shape.place_transposed<std::int64_t>(x.shape, {}, {}, {});
  if (!placed) return placed.error();
  if (status s = check_shape("I", indices.shape, x.shape); !s) return s;
  extents implied{x.shape[0], x.shape[1]};
  for (std::size_t i = 0; i < placed->rank; ++i) implied.push_back(placed->axes[i].in);
  extents size = implied;
  if (asked) {
    if (status read = read_extents(asked, "output_shape", size); !read) return read;
    if (status s = check_count("output_shape", std::int64_t(size.rank()), std::int64_t(rank)); !s) return s;
    for (std::size_t i = 0; i < rank; ++i)
      if (status s = check_at_least("a size of output_shape", size[i], implied[i]); !s) return s;
  }
  const result<value*> y = c.output(0, size);
  if (!y) return y.error();
  const std::int64_t count = implied.count();
  const integers at{indices};
  for (std::int64_t i = 0; i < at.count(); ++i)
    if (status s = check_element("I", at[i], 0, count - 1); !s) return s;
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
