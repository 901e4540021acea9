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
  const std::size_t rank = x.shape.rank();
  std::size_t a = 0;
  if (status found = find_axis(axis, rank, a); !found) return found;
  if (status s = check_rank(rank - 1 + indices.shape.rank()); !s) return s;
  const std::int64_t size = x.shape[a];
  if (status inside = check_indices(indices, size); !inside) return inside;
  extents shape{x.shape.dims().first(a)};
  for (std::int64_t d : indices.shape) shape.push_back(d);
  for (std::size_t i = a + 1; i < rank; ++i) shape.push_back(x.shape[i]);
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};

  const integers index{indices};
  const std::int64_t count = index.count(), outer = shape.count(0, a);
  const std::size_t block = std::size_t(x.shape.count(a + 1, rank)) * element_bytes(x.type);
  const std::byte* const from = bytes_of(x);
  std::byte* const to = bytes_of(**y);
  parallel_for(c, outer * count, grain_for(block), [&](std::int64_t first, std::int64_t last) {
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
  extents shape{indices.shape.dims().first(indices.shape.rank() - 1)};
  if (status s = check_rank(shape.rank() + x.shape.rank() - tuples->first_inner()); !s) return s;
  for (std::size_t i = tuples->first_inner(); i < x.shape.rank(); ++i) shape.push_back(x.shape[i]);
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::size_t size = element_bytes(x.type), block = std::size_t(tuples->block()) * size;
  const std::byte* const from = bytes_of(x);
  std::byte* const to = bytes_of(**y);
  parallel_for(c, tuples->count(), grain_for(block), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      move_block(to + std::size_t(i) * block, from + std::size_t((*tuples)[i]) * size, block);
  });
  return {};
}

status compress::run(run_context& c) const {
  const value &x = c.input(0), &wanted = c.input(1);
  const bool flat = !axis;
  std::size_t a = 0;
  if (status found = flat ? status{} : find_axis(*axis, x.shape.rank(), a); !found) return found;
  const std::int64_t size = flat ? x.shape.count() : x.shape[a];
  const std::span<const bool> holds =
      wanted.as_unchecked<bool>().span().first(std::size_t(std::min(size, wanted.shape.count())));
  extents shape = x.shape;
  const std::int64_t count = std::count(holds.begin(), holds.end(), true);
  if (flat) shape = {count};
  else shape[a] = count;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::int64_t outer = flat ? 1 : shape.count(0, a), inner = flat ? 1 : shape.count(a + 1, shape.rank());
  const std::size_t block = std::size_t(inner) * element_bytes(x.type);
  const std::byte* from = bytes_of(x);
  std::byte* to = bytes_of(**y);
  for (std::int64_t i = 0; i < outer; ++i, from += std::size_t(size) * block)
    for (std::size_t j = 0; j < holds.size(); ++j)
      if (holds[j]) move_block(to, from + j * block, block), to += block;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
