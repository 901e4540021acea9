#include <cameo/eps/cpu/concat.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Concatenates part(0) ... part(count - 1) along an axis, or along a new one, as output 0.
template <class Part>
status join(run_context& c, std::size_t count, std::int64_t axis, bool new_axis, const Part& part) {
  if (status s = check_at_least("the number of tensors", std::int64_t(count), 1); !s) return s;
  extents shape = part(0).shape;
  const std::size_t rank = shape.rank() + (new_axis ? 1 : 0);
  std::size_t a = 0;
  if (status s = check_rank(rank); !s) return s;
  if (status found = find_axis(axis, rank, a); !found) return found;
  if (new_axis) shape.insert(a, 1);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const extents& piece = part(i).shape;
    extents must = part(0).shape;
    if (!new_axis && piece.rank() == rank) must[a] = piece[a];
    if (status s = check_shape("a tensor", piece, must); !s) return s;
    if (status s = check_type("a tensor", part(i).type, part(0).type); !s) return s;
    if (!checked_add(total, new_axis ? 1 : piece[a], total)) return status_code::out_of_memory;
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

/// Checks the sizes of parts, size_at(part, the sum of those before), which add up to `whole`.
template <class SizeAt>
status check_parts(std::int64_t count, std::int64_t whole, const SizeAt& size_at) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t size = size_at(i, sum);
    if (status s = check_element("split", size, 0, whole - sum); !s) return s;
    sum += size;
  }
  if (sum == whole) return {};
  return bad_input("the parts add up to ", sum, ", not to ", whole);
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
  const attributes_of<op::Split> a{c.attributes};
  const auto outputs = std::int64_t(c.outputs.size()), sizes = std::int64_t(a.split.size());
  if (const std::int64_t wanted = a.num_outputs.value_or(0); wanted != 0)
    if (status s = of_model(check_count("the list of outputs", outputs, wanted)); !s) return s;
  if (a.split.given)
    if (status s = of_model(check_count("split", sizes, outputs)); !s) return s;
  return split{a.axis.value_or(0), a.split, c.since >= 18};
}
status split::run(run_context& c) const {
  const value &x = c.input(0), &given = c.input(1);
  const auto count = std::int64_t(c.output_count());
  std::size_t a = 0;
  if (status found = find_axis(axis, x.shape.rank(), a); !found) return found;
  const std::int64_t whole = x.shape[a];
  const bool listed = sizes.given || c.has_input(1);
  if (status s = check_input("split", given, {count}); !s) return s;
  const std::int64_t equal = (whole + count - 1) / count;
  if (!listed && !uneven)
    if (status s = check_multiple("the size of the axis", whole, count); !s) return s;
  const auto size_at = [&](std::int64_t i, std::int64_t first) {
    std::int64_t size = std::min(equal, whole - first);
    if (sizes.given) size = sizes[std::size_t(i)];
    else if (listed && !integer_at(given, i, size)) size = -1;  // version 1 allows floats
    return size;
  };
  if (status s = check_parts(count, whole, size_at); !s) return s;
  std::int64_t first = 0;
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
  const std::int64_t chunk = c.has_input(1) && !listed ? integers{given}[0] : 1;
  if (status s = check_at_least("split", chunk, 1); !s) return s;
  const std::int64_t count = listed ? given.shape[0] : whole / chunk + (whole % chunk != 0);
  const auto size_at = [&](std::int64_t i, std::int64_t first) {
    return listed ? integers{given}[i] : std::min(chunk, whole - first);
  };
  if (listed)
    if (status s = check_parts(count, whole, size_at); !s) return s;
  const bool drops_axis = !c.has_input(1) && !keeps_axis;
  const result<std::span<value>> parts = c.output_sequence(0, std::size_t(count));
  if (!parts) return parts.error();
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t size = size_at(i, first);
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
