#include <cameo/eps/cpu/unfold.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<unfold> unfold::bind(bind_context& c) {
  const attributes_of<op::microsoft::UnfoldTensor> a{c.attributes};
  return unfold{a.dim, a.size, a.step};
}

status unfold::run(run_context& c) const {
  const value& x = c.input(0);
  const auto found = geometry::axis_of<std::int64_t>(axis, x.shape.rank(), "attribute dim");
  if (!found) return found.error();
  const std::size_t a = *found;
  if (status s = geometry::check_rank<std::int64_t>(x.shape.rank() + 1); !s) return s;
  if (status s = check_least_count("the axis", x.shape[a], size); !s) return s;
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
