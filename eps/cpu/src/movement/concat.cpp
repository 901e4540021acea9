#include <cameo/eps/cpu/concat.hpp>
#include <cameo/geometry/joining.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Concatenates part(0) ... part(count - 1) along an axis, or along a new one, as output 0. `kind` names the parts.
template <class Part>
status join(run_context& c, std::string_view kind, std::size_t count, std::int64_t axis, bool new_axis,
            const Part& part) {
  if (status s = check_at_least("the number of tensors", std::int64_t(count), 1); !s) return s;
  geometry::joined all{axis, new_axis};
  for (std::size_t i = 0; i < count; ++i) {
    if (status s = check_type("a tensor", part(i).type, part(0).type); !s) return s;
    if (status s = all.add(part(i).shape, {kind, i}); !s) return s;
  }
  const result<value*> y = c.output(0, all.y());
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const geometry::slices to_slices = all.slices();
  const std::size_t bytes = element_bytes((*y)->type);
  std::byte* to = bytes_of(**y);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t run = part(i).shape.count() / to_slices.outer;
    strided_copy copy{bytes};
    copy.loop(to_slices.outer, run, to_slices.size * to_slices.inner);
    copy.loop(run, 1, 1);
    copy.run(c, part(i).data, to);
    to += std::size_t(run) * bytes;
  }
  return {};
}

/// Copies slices [first, first + size) of x to y.
void cut(run_context& c, const geometry::slices& along, const value& x, std::int64_t first, std::int64_t size,
         const value& y) {
  if (y.shape.count() == 0) return;
  const std::size_t bytes = element_bytes(x.type);
  strided_copy copy{bytes};
  copy.loop(along.outer, along.size * along.inner, size * along.inner);
  copy.loop(size * along.inner, 1, 1);
  copy.run(c, bytes_of(x) + std::size_t(first * along.inner) * bytes, y.data);
}

/// The integers of input 1, which may be absent; in scratch memory unless they are int64.
result<geometry::number_list> listed_parts(run_context& c) {
  const value& v = c.input(1);
  if (!v) return geometry::number_list{};
  if (v.type == dtype::i64) return geometry::number_list{v.as_unchecked<std::int64_t>().span()};
  const auto made = c.scratch<std::int64_t>(std::size_t(v.shape.count()));
  if (!made) return made.error();
  for (std::size_t i = 0; i < made->size(); ++i)  // Split's version 1 allows floats
    if (!integer_at(v, std::int64_t(i), (*made)[i])) (*made)[i] = -1;
  return geometry::number_list{*made};
}

}  // namespace

status concat::run(run_context& c) const {
  return join(c, "input ", c.input_count(), axis, false, [&](std::size_t i) -> const value& { return c.input(i); });
}
status concat_from_sequence::run(run_context& c) const {
  const std::span<const value> parts = c.input(0).parts;
  return join(c, "tensor ", parts.size(), axis, new_axis, [&](std::size_t i) -> const value& { return parts[i]; });
}

result<split> split::bind(bind_context& c) {
  const attributes_of<op::Split> a{c.attributes};
  return split{a.axis.value_or(0), a.num_outputs.value_or(0), a.split, c.since >= 18};
}
status split::run(run_context& c) const {
  const value& x = c.input(0);
  const auto given = sizes.given ? geometry::number_list{std::span{sizes}} : listed_parts(c);
  if (!given) return given.error();
  const std::size_t count = c.output_count();
  const auto parts = geometry::split_of<std::int64_t>(x.shape, axis, count, {*given, num_outputs, uneven});
  if (!parts) return parts.error();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = parts->size_at(std::int64_t(i));
    if (c.has_output(i)) {
      const result<value*> y = c.output(i, parts->shape_of(size));
      if (!y) return y.error();
      cut(c, *parts, x, first, size, **y);
    }
    first += size;
  }
  return {};
}

status split_to_sequence::run(run_context& c) const {
  const value &x = c.input(0), &given = c.input(1);
  const auto listed = listed_parts(c);
  if (!listed) return listed.error();
  const auto cuts =
      geometry::split_to_sequence_of<std::int64_t>(x.shape, axis, *listed, given.shape.rank() == 0, keeps_axis);
  if (!cuts) return cuts.error();
  const result<std::span<value>> parts = c.output_sequence(0, std::size_t(cuts->count));
  if (!parts) return parts.error();
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < cuts->count; ++i) {
    const std::int64_t size = cuts->size_at(i);
    const result<value> made = c.make(x.type, cuts->shape_of(size));
    if (!made) return made.error();
    (*parts)[std::size_t(i)] = *made;
    cut(c, *cuts, x, first, size, *made);
    first += size;
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
