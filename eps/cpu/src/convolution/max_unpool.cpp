#include <cameo/eps/cpu/max_unpool.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Sets the size of an axis: (in - 1) * stride + kernel - pads.
status unpooled_size(const max_unpool& u, std::int64_t in, std::size_t i, std::int64_t& out) {
  const std::int64_t cut = number_or(u.pads, i, 0) + number_or(u.pads, i + u.kernel.size(), 0);
  if (!checked_multiply(in - 1, number_or(u.strides, i, 1), out) || !checked_add(out, u.kernel[i] - cut, out) ||
      out < 0)
    return bad_input("spatial axis ", i, " of ", in, " elements gets no size: see pads");
  return {};
}

}  // namespace

result<max_unpool> max_unpool::bind(bind_context& c) {
  max_unpool made{c.ints_or("kernel_shape"), c.ints_or("strides"), c.ints_or("pads")};
  const std::size_t axes = made.kernel.size();
  if (axes == 0 || axes > max_rank - 2) return bad_attribute("kernel_shape needs an element for each spatial axis");
  if ((!made.strides.empty() && made.strides.size() != axes) || (!made.pads.empty() && made.pads.size() != 2 * axes))
    return bad_attribute("strides needs ", axes, " elements and pads ", 2 * axes);
  if (status s = check_numbers("kernel_shape", made.kernel, 1); !s) return s;
  if (status s = check_numbers("strides", made.strides, 1); !s) return s;
  if (status s = check_numbers("pads", made.pads, 0); !s) return s;
  return made;
}

status max_unpool::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1), &asked = c.input(2);
  const std::size_t rank = x.shape.rank(), bytes = element_bytes(x.type);
  if (rank != kernel.size() + 2) return bad_input("X ", x.shape, " does not fit a kernel of ", kernel.size(), " axes");
  if (indices.shape != x.shape) return bad_input("I ", indices.shape, " must be of the shape of X, ", x.shape);
  extents implied{x.shape[0], x.shape[1]};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    std::int64_t size = 0;
    if (status fits = unpooled_size(*this, x.shape[i + 2], i, size); !fits) return fits;
    implied.push_back(size);
  }
  extents shape = implied;
  if (asked) {
    if (status read = read_extents(asked, "output_shape", shape); !read) return read;
    bool fits = shape.rank() == rank;
    for (std::size_t i = 0; fits && i < rank; ++i) fits = shape[i] >= implied[i];
    if (!fits) return bad_input("output_shape ", shape, " must be at least ", implied, " along every axis");
  }
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  const std::int64_t count = implied.count();
  const integers at{indices};
  for (std::int64_t i = 0; i < at.count(); ++i)
    if (at[i] < 0 || at[i] >= count) return bad_input("index ", at[i], " at ", i, " is not in [0,", count, ")");
  if (shape.count() == 0) return {};
  const std::byte zero[16] = {};
  fill(c, (*y)->data, shape.count(), zero, bytes);
  const extents from = row_major_strides(implied), to = row_major_strides(shape);
  const bool same = shape == implied;
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
