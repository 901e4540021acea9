#include <cameo/eps/cpu/tensor_scatter.hpp>

#include <cstring>

#include "operands/choice.hpp"
#include "operands/operand_values.hpp"
#include "operands/small_elements.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<tensor_scatter> tensor_scatter::bind(bind_context& c) {
  tensor_scatter made{c.int_or("axis", -2)};
  if (status read = read_choice(c, "mode", {"linear", "circular"}, made.circular); !read) return read;
  c.may_overwrite(0, 0);
  return made;
}

status tensor_scatter::run(run_context& c) const {
  const result<value> cache_bytes = whole_bytes(c, c.input(0)), update_bytes = whole_bytes(c, c.input(1));
  if (!cache_bytes || !update_bytes) return status_code::out_of_memory;
  const value &cache = *cache_bytes, &update = *update_bytes, &starts = c.input(2);
  const std::size_t rank = cache.shape.rank(), bytes = element_bytes(cache.type);
  std::size_t at = 0;
  if (status found = find_axis(axis, rank, at); !found) return found;
  if (at == 0) return bad_input("axis must not be the batch's, 0");
  bool fits = update.shape.rank() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i)
    fits = i == at ? update.shape[i] <= cache.shape[i] : update.shape[i] == cache.shape[i];
  if (!fits) return bad_input("update ", update.shape, " does not fit past_cache ", cache.shape, " along axis ", at);
  const std::int64_t size = cache.shape[at], count = update.shape[at];
  for (std::int64_t b = 0; starts && b < cache.shape[0]; ++b) {
    const std::int64_t start = integers{starts}[b];
    if (start < 0 || start > (circular ? std::max<std::int64_t>(size - 1, 0) : size - count))
      return bad_input("write index ", start, " of batch ", b, " is not inside an axis of ", size, " for ", count,
                       " new elements");
  }
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
