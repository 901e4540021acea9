#include <cameo/eps/cpu/reshape.hpp>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

const attribute* ints_attribute(const bind_context& c, std::string_view name) {
  const attribute* const a = c.find(name);
  return a && a->kind == attribute_kind::ints ? a : nullptr;
}

/// Reads a list of sizes or axes from input 1, or else from an attribute.
status read_numbers(const run_context& c, const attribute* a, std::string_view what, extents& out) {
  if (c.has_input(1)) return read_extents(c.input(1), what, out);
  if (!a) return bad_input(what, " is missing");
  if (a->ints.size() > max_rank) return bad_input(what, " has more than ", max_rank, " elements");
  out = extents{a->ints};
  return {};
}

}  // namespace

result<reshape> reshape::bind(bind_context& c) {
  c.views(0, 0);
  return reshape{c.int_or("allowzero", 0) != 0, ints_attribute(c, "shape")};
}
status reshape::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  extents to;
  if (status read = read_numbers(c, shape, "shape", to); !read) return read;
  const extents wanted = to;
  std::int64_t open = -1;
  for (std::size_t i = 0; i < to.rank(); ++i) {
    if (to[i] == 0 && !zero_is_a_size) {
      if (i >= from.rank()) return bad_input("shape ", wanted, " keeps axis ", i, ", but the input is ", from);
      to[i] = from[i];
    } else if (to[i] == -1) {
      if (open >= 0) return bad_input("shape ", wanted, " has more than one -1");
      open = std::int64_t(i);
    } else if (to[i] < -1) {
      return bad_input("shape ", wanted, " has a negative size other than -1");
    }
  }
  const std::int64_t count = from.count();
  if (open >= 0) {
    to[std::size_t(open)] = 1;
    std::int64_t others = 0;
    if (!to.checked_count(others) || others == 0 || count % others != 0)
      return bad_input("input ", from, " does not fit shape ", wanted);
    to[std::size_t(open)] = count / others;
  }
  std::int64_t made = 0;
  if (!to.checked_count(made) || made != count)
    return bad_input("input ", from, " has ", count, " elements, shape ", wanted, " another number");
  return c.forward(0, c.input(0), to);
}

result<expand_dims> expand_dims::bind(bind_context& c) {
  c.views(0, 0);
  return expand_dims{};
}
status expand_dims::run(run_context& c) const {
  extents shape = c.input(0).shape;
  if (shape.rank() == max_rank) return bad_input("an input of rank ", max_rank, " can't have another axis");
  std::size_t axis = 0;
  if (status found = find_axis(integers{c.input(1)}[0], shape.rank() + 1, axis); !found) return found;
  shape.insert(axis, 1);
  return c.forward(0, c.input(0), shape);
}

result<flatten> flatten::bind(bind_context& c) {
  c.views(0, 0);
  return flatten{c.int_or("axis", 1)};
}
status flatten::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  const auto rank = std::int64_t(from.rank());
  if (axis < -rank || axis > rank) return bad_input("axis ", axis, " is not in [-", rank, ",", rank, "]");
  const auto cut = std::size_t(axis < 0 ? axis + rank : axis);
  extents to{0, 0};
  if (!product(from, 0, cut, to[0]) || !product(from, cut, from.rank(), to[1]))
    return bad_input("input ", from, " is too large to flatten");
  return c.forward(0, c.input(0), to);
}

result<squeeze> squeeze::bind(bind_context& c) {
  c.views(0, 0);
  return squeeze{ints_attribute(c, "axes")};
}
status squeeze::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  unsigned dropped = 0;
  if (axes || c.has_input(1)) {
    extents given;
    if (status read = read_numbers(c, axes, "axes", given); !read) return read;
    for (std::int64_t number : given) {
      std::size_t axis = 0;
      if (status found = find_axis(number, from.rank(), axis); !found) return found;
      dropped |= 1u << axis;
    }
  } else {
    for (std::size_t i = 0; i < from.rank(); ++i)
      if (from[i] == 1) dropped |= 1u << i;
  }
  extents to;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (!(dropped >> i & 1)) to.push_back(from[i]);
    else if (from[i] != 1) return bad_input("axis ", i, " of ", from, " can't be dropped: its size is not 1");
  }
  return c.forward(0, c.input(0), to);
}

result<unsqueeze> unsqueeze::bind(bind_context& c) {
  c.views(0, 0);
  return unsqueeze{ints_attribute(c, "axes")};
}
status unsqueeze::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  extents given, to;
  if (status read = read_numbers(c, axes, "axes", given); !read) return read;
  const std::size_t rank = from.rank() + given.rank();
  if (rank > max_rank) return bad_input("rank ", rank, " of the output is above the largest, ", max_rank);
  std::uint32_t added = 0;
  std::size_t axis = 0;
  for (std::int64_t number : given)
    if (status found = find_axis(number, rank, axis, added); !found) return found;
  for (std::size_t i = 0, j = 0; i < rank; ++i) to.push_back(added >> i & 1 ? 1 : from[j++]);
  return c.forward(0, c.input(0), to);
}

result<identity> identity::bind(bind_context& c) {
  if (!c.inputs.empty() && c.inputs[0].kind == type_kind::tensor) c.views(0, 0);
  return identity{};
}
status identity::run(run_context& c) const { return c.forward(0, c.input(0)); }

}  // namespace CAMEO_NAMESPACE::eps
