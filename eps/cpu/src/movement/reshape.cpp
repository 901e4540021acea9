#include <cameo/eps/cpu/reshape.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads a list of sizes or axes from input 1, or else from an attribute.
status read_numbers(const run_context& c, const attribute_list<std::int64_t>& list, std::string_view what,
                    extents& out) {
  if (c.has_input(1)) return read_extents(c.input(1), what, out);
  if (status s = check_given(what, list.given); !s) return s;
  out = extents{std::span<const std::int64_t>{list}};
  return check_rank(list.size());
}

}  // namespace

result<reshape> reshape::bind(bind_context& c) {
  c.views(0, 0);
  const attributes_of<op::Reshape> a{c.attributes};
  return reshape{a.allowzero != 0, a.shape};
}
status reshape::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  extents to;
  if (status read = read_numbers(c, shape, "shape", to); !read) return read;
  const extents wanted = to;
  std::int64_t open = -1;
  for (std::size_t i = 0; i < to.rank(); ++i) {
    if (to[i] == 0 && !zero_is_a_size) {
      if (status s = check_number("an axis to keep", std::int64_t(i), 0, std::int64_t(from.rank()) - 1); !s) return s;
      to[i] = from[i];
    } else if (to[i] == -1) {
      if (open >= 0) return bad_input("shape ", wanted, " has more than one -1");
      open = std::int64_t(i);
    } else if (status s = check_at_least("a size of shape", to[i], -1); !s) {
      return s;
    }
  }
  const std::int64_t count = from.count();
  bool fits = true;
  std::int64_t made = 0;
  if (open >= 0) {
    to[std::size_t(open)] = 1;
    fits = to.checked_count(made) && made > 0;
    if (fits) to[std::size_t(open)] = count / made;
  }
  if (!fits || !to.checked_count(made) || made != count)
    return bad_input("input ", from, " does not fit shape ", wanted);
  return c.forward(0, c.input(0), to);
}

result<expand_dims> expand_dims::bind(bind_context& c) {
  c.views(0, 0);
  return expand_dims{};
}
status expand_dims::run(run_context& c) const {
  extents shape = c.input(0).shape;
  if (status s = check_rank(shape.rank() + 1); !s) return s;
  std::size_t axis = 0;
  if (status found = find_axis(integers{c.input(1)}[0], shape.rank() + 1, axis); !found) return found;
  shape.insert(axis, 1);
  return c.forward(0, c.input(0), shape);
}

result<flatten> flatten::bind(bind_context& c) {
  c.views(0, 0);
  return flatten{attributes_of<op::Flatten>{c.attributes}.axis};
}
status flatten::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  const auto rank = std::int64_t(from.rank());
  if (status s = check_number("axis", axis, -rank, rank); !s) return s;
  const auto cut = std::size_t(axis < 0 ? axis + rank : axis);
  extents to{0, 0};
  const bool fits = product(from, 0, cut, to[0]) && product(from, cut, from.rank(), to[1]);
  if (status s = check_fits("input", fits); !s) return s;
  return c.forward(0, c.input(0), to);
}

result<squeeze> squeeze::bind(bind_context& c) {
  c.views(0, 0);
  return squeeze{attributes_of<op::Squeeze>{c.attributes}.axes};
}
status squeeze::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  unsigned dropped = 0;
  if (axes.given || c.has_input(1)) {
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
    else if (status s = check_count("an axis to remove", from[i], 1); !s) return s;
  }
  return c.forward(0, c.input(0), to);
}

result<unsqueeze> unsqueeze::bind(bind_context& c) {
  c.views(0, 0);
  return unsqueeze{attributes_of<op::Unsqueeze>{c.attributes}.axes};
}
status unsqueeze::run(run_context& c) const {
  const extents& from = c.input(0).shape;
  extents given, to;
  if (status read = read_numbers(c, axes, "axes", given); !read) return read;
  const std::size_t rank = from.rank() + given.rank();
  if (status s = check_rank(rank); !s) return s;
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
