#include <cameo/eps/cpu/center_crop_pad.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

result<center_crop_pad> center_crop_pad::bind(bind_context& c) {
  return center_crop_pad{attributes_of<op::CenterCropPad>{c.attributes}.axes};
}

status center_crop_pad::run(run_context& c) const {
  const value &x = c.input(0), &sizes = c.input(1);
  const std::size_t rank = x.shape.rank(), bytes = element_bytes(x.type);
  const auto named = std::int64_t(axes.given ? axes.size() : rank);
  if (status s = check_count("shape", sizes.shape.count(), named); !s) return s;
  extents shape = x.shape;
  std::uint32_t seen = 0;
  for (std::int64_t i = 0; i < named; ++i) {
    std::size_t axis = 0;
    if (status found = find_axis(axes.given ? axes[std::size_t(i)] : i, rank, axis, seen); !found) return found;
    shape[axis] = integers{sizes}[i];
  }
  if (status s = check_sizes("a size of shape", shape); !s) return s;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::byte zero[16] = {};
  if (shape != x.shape) fill(c, (*y)->data, shape.count(), zero, bytes);
  if (x.shape.count() == 0) return {};
  const extents from = row_major_strides(x.shape), to = row_major_strides(shape);
  std::int64_t source = 0, target = 0;
  extents kept;
  for (std::size_t i = 0; i < rank; ++i) {
    kept.push_back(std::min(x.shape[i], shape[i]));
    source += (x.shape[i] - kept[i]) / 2 * from[i], target += (shape[i] - kept[i]) / 2 * to[i];
  }
  strided_copy copy{bytes};
  copy.loops(kept, from, to);
  copy.run(c, bytes_of(x) + std::size_t(source) * bytes, bytes_of(**y) + std::size_t(target) * bytes);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
