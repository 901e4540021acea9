#include <cameo/eps/cpu/center_crop_pad.hpp>
#include <cameo/geometry/pad.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<center_crop_pad> center_crop_pad::bind(bind_context& c) {
  return center_crop_pad{attributes_of<op::CenterCropPad>{c.attributes}.axes};
}

status center_crop_pad::run(run_context& c) const {
  const value& x = c.input(0);
  number_input named, wanted;
  const status read = check_all({named.read({}, "axes", axes), wanted.read(c.input(1), "shape")});
  if (!read) return read;
  const auto made = geometry::center_crop_pad_of<std::int64_t>(x.shape, named.list, wanted.room);
  if (!made) return made.error();
  const extents shape = made->out, from = row_major_strides(x.shape), to = row_major_strides(shape);
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::size_t bytes = element_bytes(x.type);
  const std::byte zero[16] = {};
  if (shape != x.shape) fill(c, (*y)->data, shape.count(), zero, bytes);
  if (x.shape.count() == 0) return {};
  strided_copy copy{bytes};
  copy.loops(made->kept(), from, to);
  copy.run(c, bytes_of(x) + std::size_t(made->source(from)) * bytes,
           bytes_of(**y) + std::size_t(made->target(to)) * bytes);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
