#include <cameo/eps/cpu/unfold.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<unfold> unfold::bind(bind_context& c) {
  const unfold made{c.int_or("dim", -1), c.int_or("size", 0), c.int_or("step", 1)};
  return made;
}

status unfold::run(run_context& c) const {
  const value& x = c.input(0);
  std::size_t a = 0;
  if (status found = find_axis(axis, x.shape.rank(), a); !found) return found;
  if (x.shape.rank() == max_rank) return bad_input("an input of rank ", max_rank, " leaves no axis for the slices");
  if (x.shape[a] < size) return bad_input("axis ", a, " of ", x.shape, " is shorter than a slice of ", size);
  extents shape = x.shape;
  shape[a] = (x.shape[a] - size) / step + 1;
  shape.push_back(size);
  return move_to_output(c, x, 0, shape, [&](strided_copy& copy) {
    const extents from = row_major_strides(x.shape), to = row_major_strides(shape);
    for (std::size_t i = 0; i < x.shape.rank(); ++i)
      copy.loop(shape[i], i == a && shape[i] > 1 ? from[i] * step : from[i], to[i]);
    copy.loop(size, from[a], 1);
  });
}

}  // namespace CAMEO_NAMESPACE::eps
