#include <cameo/eps/cpu/image_scaler.hpp>
#include <cameo/op/attributes/contrib.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/row_rooms.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

result<image_scaler> image_scaler::bind(bind_context& c) {
  const attributes_of<op::contrib::ImageScaler> a{c.attributes};
  c.may_overwrite(0, 0);
  return image_scaler{double(a.scale), a.bias};
}

template <class C>
status image_scaler::run_as(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::int64_t n = x.shape.count(2, rank), channels = x.shape[1];
  const auto from = row_rooms<C>::make(c, x, 1, n), y = row_rooms<C>::make(c, **out, 1, n);
  if (!from || !y) return status_code::out_of_memory;
  parallel_rows(c, x.shape[0] * channels, 1, [&](std::int64_t first, std::int64_t last, std::size_t lane) {
    for (std::int64_t row = first; row < last; ++row) {
      const C* const in = from->read(lane, row * n, n);
      C* const to = y->room(lane, row * n);
      const C factor = C(scale), added = C(bias[std::size_t(row % channels)]);
      for (std::int64_t i = 0; i < n; ++i) to[i] = factor * in[i] + added;
      y->store(lane, row * n, n);
    }
  });
  return {};
}

status image_scaler::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

result<crop> crop::bind(bind_context& c) {
  const attributes_of<op::contrib::Crop> a{c.attributes};
  return crop{a.border, a.scale};
}

status crop::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t before[] = {border[1], border[0]}, after[] = {border[3], border[2]};
  extents shape = x.shape;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = x.shape[2 + i];
    const std::int64_t left = size - std::clamp<std::int64_t>(before[i], 0, size);
    const std::int64_t wanted = scale.empty() ? left - std::clamp<std::int64_t>(after[i], 0, left) : scale[i];
    if (before[i] < 0 || before[i] > size || wanted < 0 || wanted > left ||
        (scale.empty() && (after[i] < 0 || after[i] > left)))
      return bad_input("axis ", std::int64_t(2 + i), " has ", size, " elements: too few for what border and scale say");
    shape[2 + i] = wanted;
  }
  const std::int64_t first = shape.count() == 0 ? 0 : before[0] * x.shape[3] + before[1];
  return move_to_output(c, x, first, shape, [&](strided_copy& copy) {
    copy.loops(shape, row_major_strides(x.shape), row_major_strides(shape));
  });
}

}  // namespace CAMEO_NAMESPACE::eps
