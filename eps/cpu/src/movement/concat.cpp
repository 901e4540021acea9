#include <cameo/eps/cpu/concat.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Concatenates part(0) ... part(count - 1) along an axis, or along a new one, as output 0.
template <class Part>
status join(run_context& c, std::size_t count, std::int64_t axis, bool new_axis, const Part& part) {
  if (count == 0) return bad_input("there is nothing to join");
  extents shape = part(0).shape;
  if (new_axis && shape.rank() == max_rank) return bad_input("rank ", max_rank, " is the largest");
  const std::size_t rank = shape.rank() + (new_axis ? 1 : 0);
  std::size_t a = 0;
  if (status found = find_axis(axis, rank, a); !found) return found;
  if (new_axis) shape.insert(a, 1);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    extents piece = part(i).shape;
    if (new_axis) piece.insert(a, 1);
    bool fits = piece.rank() == rank && part(i).type == part(0).type;
    for (std::size_t j = 0; fits && j < rank; ++j) fits = j == a || piece[j] == shape[j];
    if (!fits)
      return bad_input("input ", i, " is ", part(i).shape, ", which does not fit ", part(0).shape, " along axis ", a);
    if (!checked_add(total, piece[a], total)) return status_code::out_of_memory;
  }
  shape[a] = total;
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const std::int64_t outer = shape.count(0, a), inner = shape.count(a + 1, rank);
  const std::size_t bytes = element_bytes((*y)->type);
  std::byte* to = bytes_of(**y);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t run = part(i).shape.count() / outer;
    strided_copy copy{bytes};
    copy.loop(outer, run, total * inner);
    copy.loop(run, 1, 1);
    copy.run(c, part(i).data, to);
    to += std::size_t(run) * bytes;
  }
  return {};
}

/// Copies positions [first, first + size) of an axis of x to y, which has that size along the axis, or lacks the axis.
void cut(run_context& c, const value& x, std::size_t axis, std::int64_t first, std::int64_t size, const value& y) {
  if (y.shape.count() == 0) return;
  const std::int64_t inner = x.shape.count(axis + 1, x.shape.rank());
  const std::size_t bytes = element_bytes(x.type);
  strided_copy copy{bytes};
  copy.loop(x.shape.count(0, axis), x.shape[axis] * inner, size * inner);
  copy.loop(size * inner, 1, 1);
  copy.run(c, bytes_of(x) + std::size_t(first * inner) * bytes, y.data);
}

}  // namespace

status concat::run(run_context& c) const {
  return join(c, c.input_count(), axis, false, [&](std::size_t i) -> const value& { return c.input(i); });
}
status concat_from_sequence::run(run_context& c) const {
  const std::span<const value> parts = c.input(0).parts;
  return join(c, parts.size(), axis, new_axis, [&](std::size_t i) -> const value& { return parts[i]; });
}

result<split> split::bind(bind_context& c) {
  const std::int64_t wanted = c.since >= 18 ? c.int_or("num_outputs", 0) : 0;
  if (wanted && wanted != std::int64_t(c.outputs.size()))
    return bad_attribute("`num_outputs` is ", wanted, ", but there are ", c.outputs.size(), " outputs");
  const attribute* const sizes = c.since < 13 ? c.find("split") : nullptr;
  if (sizes && sizes->ints.size() != c.outputs.size())
    return bad_attribute("`split` has ", sizes->ints.size(), " sizes for ", c.outputs.size(), " outputs");
  return split{c.int_or("axis", 0), wanted, sizes ? sizes->ints : std::span<const std::int64_t>{}, sizes != nullptr,
               c.since >= 18};
}
status split::run(run_context& c) const {
  const value &x = c.input(0), &given = c.input(1);
  const auto count = std::int64_t(c.output_count());
  std::size_t a = 0;
  if (status found = find_axis(axis, x.shape.rank(), a); !found) return found;
  const std::int64_t whole = x.shape[a];
  const bool listed = has_sizes || c.has_input(1);
  if (c.has_input(1) && given.shape != extents{count})
    return bad_input("split ", given.shape, " must be [", count, "]: one size for each output");
  const std::int64_t equal = (whole + count - 1) / count;
  if (!listed && !uneven && whole % count != 0)
    return bad_input("axis ", a, " of ", x.shape, " can't be split into ", count, " equal parts");
  const auto size_at = [&](std::int64_t i, std::int64_t first) {
    std::int64_t size = std::min(equal, whole - first);
    if (has_sizes) size = sizes[std::size_t(i)];
    else if (listed && !integer_at(given, i, size)) size = -1;  // version 1 allows floats
    return size;
  };
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t size = size_at(i, first);
    if (size < 0 || size > whole - first)
      return bad_input("part ", i, " has size ", size, "; the parts must add up to ", whole);
    first += size;
  }
  if (first != whole) return bad_input("the parts add up to ", first, ", not to ", whole);
  first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    extents shape = x.shape;
    shape[a] = size_at(i, first);
    if (c.has_output(std::size_t(i))) {
      const result<value*> y = c.output(std::size_t(i), shape);
      if (!y) return y.error();
      cut(c, x, a, first, shape[a], **y);
    }
    first += shape[a];
  }
  return {};
}

status split_to_sequence::run(run_context& c) const {
  const value &x = c.input(0), &given = c.input(1);
  std::size_t a = 0;
  if (status found = find_axis(axis, x.shape.rank(), a); !found) return found;
  const std::int64_t whole = x.shape[a];
  const bool listed = c.has_input(1) && given.shape.rank() > 0;
  std::int64_t chunk = 1, count = 0, total = 0;
  if (listed) {
    count = given.shape[0];
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t size = integers{given}[i];
      if (size < 0 || size > whole - total)
        return bad_input("part ", i, " has size ", size, ", axis ", a, " has ", whole);
      total += size;
    }
    if (total != whole) return bad_input("the parts add up to ", total, ", not to ", whole);
  } else {
    if (c.has_input(1)) chunk = integers{given}[0];
    if (chunk < 1) return bad_input("split must be positive, not ", chunk);
    count = whole / chunk + (whole % chunk != 0);
  }
  const bool drops_axis = !c.has_input(1) && !keeps_axis;
  const result<std::span<value>> parts = c.output_sequence(0, std::size_t(count));
  if (!parts) return parts.error();
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t size = listed ? integers{given}[i] : std::min(chunk, whole - first);
    extents shape = x.shape;
    if (drops_axis) shape.erase(a);
    else shape[a] = size;
    const result<value> made = c.make(x.type, shape);
    if (!made) return made.error();
    (*parts)[std::size_t(i)] = *made;
    cut(c, x, a, first, size, *made);
    first += size;
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
