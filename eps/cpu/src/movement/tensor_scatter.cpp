#include <cameo/eps/cpu/tensor_scatter.hpp>
#include <cameo/geometry/gather.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cstring>

#include "operands/operand_values.hpp"
#include "operands/small_elements.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<tensor_scatter> tensor_scatter::bind(bind_context& c) {
  const attributes_of<op::TensorScatter> a{c.attributes};
  c.may_overwrite(0, 0);
  return tensor_scatter{a.axis, a.mode == op::tensor_scatter_mode_choice::circular};
}

status tensor_scatter::run(run_context& c) const {
  const result<value> cache_bytes = whole_bytes(c, c.input(0)), update_bytes = whole_bytes(c, c.input(1));
  if (!cache_bytes || !update_bytes) return status_code::out_of_memory;
  const value &cache = *cache_bytes, &update = *update_bytes, &starts = c.input(2);
  const auto along = geometry::tensor_scatter_of<std::int64_t>(cache.shape, update.shape, axis);
  if (!along) return along.error();
  const std::int64_t outer = along->outer, size = along->size, count = update.shape[along->axis];
  const std::int64_t most = circular ? std::max<std::int64_t>(size - 1, 0) : size - count;
  for (std::int64_t b = 0; starts && b < cache.shape[0]; ++b)
    if (status s = check_element("write_indices", integers{starts}[b], 0, most); !s) return s;
  const result<byte_output> y = byte_output::make(c, 0, cache.shape);
  if (!y) return y.error();
  if (cache.shape.count() == 0) return {};
  copy_bytes(c, y->bytes.data, cache.data, cache.bytes());
  if (update.shape.count() == 0) return y->store(c), status{};
  const std::size_t row = std::size_t(along->inner) * element_bytes(cache.type);
  const std::int64_t per_batch = outer / cache.shape[0];
  parallel_for(c, outer, std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, std::int64_t(row) * count)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t o = first; o < last; ++o) {
                   const std::int64_t start = starts ? integers{starts}[o / per_batch] : 0;
                   const std::int64_t whole = std::min(count, size - start);
                   std::byte* const to = bytes_of(y->bytes) + std::size_t(o * size) * row;
                   const std::byte* const from = bytes_of(update) + std::size_t(o * count) * row;
                   std::memcpy(to + std::size_t(start) * row, from, std::size_t(whole) * row);
                   std::memcpy(to, from + std::size_t(whole) * row, std::size_t(count - whole) * row);
                 }
               });
  y->store(c);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
