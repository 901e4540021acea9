#include <cameo/eps/cpu/gather.hpp>

#include "operands/index_rows.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The least number of pieces of `bytes` bytes that pays for another thread.
std::int64_t grain_for(std::size_t bytes) { return std::int64_t(1 + 65536 / (bytes + 1)); }

}  // namespace

status gather::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1);
  const auto g = geometry::gather_of<std::int64_t>(x.shape, indices.shape, axis);
  if (!g) return g.error();
  if (status inside = check_indices(indices, g->size, g->axis); !inside) return inside;
  const result<value*> y = c.output(0, g->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};

  const integers index{indices};
  const std::int64_t count = index.count(), size = g->size;
  const std::size_t block = std::size_t(g->inner) * element_bytes(x.type);
  const std::byte* const from = bytes_of(x);
  std::byte* const to = bytes_of(**y);
  parallel_for(c, g->outer * count, grain_for(block), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t source = i / count * size + place(index[i % count], size);
      move_block(to + std::size_t(i) * block, from + std::size_t(source) * block, block);
    }
  });
  return {};
}

status gather_elements::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1);
  const result<index_rows> rows = index_rows::make(x, indices, axis);
  if (!rows) return rows.error();
  const result<value*> y = c.output(0, indices.shape);
  if (!y) return y.error();
  if (rows->rows() == 0) return {};
  const std::size_t size = element_bytes(x.type);
  const std::byte* const from = bytes_of(x);
  std::byte* const to = bytes_of(**y);
  parallel_for(c, rows->rows(), 1 + 8192 / rows->length(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      rows->each(row, [&](std::int64_t i, std::int64_t source) {
        move_block(to + std::size_t(i) * size, from + std::size_t(source) * size, size);
      });
  });
  return {};
}

status gather_nd::run(run_context& c) const {
  const value &x = c.input(0), &indices = c.input(1);
  const result<index_tuples> tuples = index_tuples::make(x, indices, batch_dims);
  if (!tuples) return tuples.error();
  const result<value*> y = c.output(0, tuples->gathered);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const std::size_t size = element_bytes(x.type), block = std::size_t(tuples->block) * size;
  const std::byte* const from = bytes_of(x);
  std::byte* const to = bytes_of(**y);
  parallel_for(c, tuples->count, grain_for(block), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      move_block(to + std::size_t(i) * block, from + std::size_t((*tuples)[i]) * size, block);
  });
  return {};
}

status compress::run(run_context& c) const {
  const value &x = c.input(0), &wanted = c.input(1);
  const auto from_slices = geometry::selection_of<std::int64_t>(x.shape, axis ? &*axis : nullptr);
  if (!from_slices) return from_slices.error();
  const std::span<const bool> holds =
      wanted.as_unchecked<bool>().span().first(std::size_t(std::min(from_slices->size, wanted.shape.count())));
  const result<value*> y = c.output(0, from_slices->shape_of(std::count(holds.begin(), holds.end(), true)));
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const std::size_t block = std::size_t(from_slices->inner) * element_bytes(x.type);
  const std::byte* from = bytes_of(x);
  std::byte* to = bytes_of(**y);
  for (std::int64_t i = 0; i < from_slices->outer; ++i, from += std::size_t(from_slices->size) * block)
    for (std::size_t j = 0; j < holds.size(); ++j)
      if (holds[j]) move_block(to, from + j * block, block), to += block;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
