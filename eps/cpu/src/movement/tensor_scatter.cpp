#include <cameo/eps/cpu/tensor_scatter.hpp>
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
  const std::size_t rank = cache.shape.rank(), bytes = element_bytes(cache.type);
  std::size_t at = 0;
  if (status found = find_axis(axis, rank, at); !found) return found;
  if (status s = check_number("axis", std::int64_t(at), 1, std::int64_t(rank) - 1); !s) return s;
  extents must = cache.shape;
  if (update.shape.rank() == rank) must[at] = std::min(must[at], update.shape[at]);
  if (status s = check_shape("update", update.shape, must); !s) return s;
  const std::int64_t size = cache.shape[at], count = update.shape[at];
  const std::int64_t most = circular ? std::max<std::int64_t>(size - 1, 0) : size - count;
  for (std::int64_t b = 0; starts && b < cache.shape[0]; ++b)
    if (status s = check_element("write_indices", integers{starts}[b], 0, most); !s) return s;
  const result<byte_output> y = byte_output::make(c, 0, cache.shape);
  if (!y) return y.error();
  if (cache.shape.count() == 0) return {};
  copy_bytes(c, y->bytes.data, cache.data, std::size_t(cache.shape.count()) * bytes);
  if (update.shape.count() == 0) return y->store(c), status{};
  const std::size_t row = std::size_t(cache.shape.count(at + 1, rank)) * bytes;
  const std::int64_t outer = cache.shape.count(0, at), per_batch = outer / cache.shape[0];
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
