#pragma once
#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <memory>

namespace CAMEO_NAMESPACE::eps {

/// Returns a list of `count` empty values, valid until the kernel returns.
inline result<std::span<value>> value_list(run_context& c, std::size_t count) {
  result<std::span<value>> list = c.scratch<value>(count);
  if (list)
    for (value& v : *list) std::construct_at(&v);
  return list;
}

/// Moves outputs of a subgraph to the outputs of the node from `first` on, and releases those that the node does not
/// have.
inline status give_all(run_context& c, std::size_t first, std::span<value> kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!c.has_output(first + i)) c.release(kept[i]);
    else if (status given = c.give(first + i, kept[i]); !given) return given;
  }
  return {};
}

/// Sets the outputs of the states: those that the last iteration gave, or if none `ran`, the inputs from `first` on.
inline status give_states(run_context& c, bool ran, std::size_t first, std::span<value> last) {
  if (ran) return give_all(c, 0, last);
  for (std::size_t k = 0; k < last.size(); ++k)
    if (c.has_output(k))
      if (status forwarded = c.forward(k, c.input(first + k)); !forwarded) return forwarded;
  return {};
}

/// Sets the number of bytes of `count` elements; false if elements of less than a byte do not fill the last byte.
inline bool whole_bytes(dtype type, std::int64_t count, std::size_t& bytes) {
  const std::size_t bits = std::size_t(count) * bits_of(type);
  bytes = bits / 8;
  return bits % 8 == 0;
}
inline status not_in_bytes(dtype type, const extents& shape) {
  return refuse(status_code::not_implemented, "slices ", shape, " of ", type, " that do not consist of whole bytes");
}

/// A slice of a tensor at an index of an axis, without that axis. `kept`: it is a copy, which has to be released.
struct tensor_slice {
  value v;
  bool kept = false;
};
inline result<tensor_slice> slice_of(run_context& c, const value& x, std::size_t axis, std::int64_t at) {
  value v = x;
  v.shape.erase(axis);
  const std::int64_t inner = x.shape.count(axis + 1, x.shape.rank());
  if (v.shape.count() == inner) {  // the slice is contiguous and needs no copy
    std::size_t bytes = 0;
    if (!whole_bytes(x.type, inner, bytes)) return not_in_bytes(x.type, v.shape);
    v.data = bytes_of(x) + std::size_t(at) * bytes;
    return tensor_slice{v};
  }
  if (bits_of(x.type) < 8) return not_in_bytes(x.type, v.shape);
  const result<value> made = c.make(x.type, v.shape);
  if (!made) return made.error();
  if (v.shape.count() > 0) {
    strided_copy copy{element_bytes(x.type)};
    copy.loop(x.shape.count(0, axis), x.shape[axis] * inner, inner);
    copy.loop(inner, 1, 1);
    copy.run(c, bytes_of(x) + std::size_t(at * inner) * element_bytes(x.type), made->data);
  }
  return tensor_slice{*made, true};
}

/// Writes `element` to the slice `at` of an axis of `y`; INVALID_ARGUMENT if shapes or types differ.
inline status put_slice(run_context& c, const value& y, std::size_t axis, std::int64_t at, const value& element) {
  extents expected = y.shape;
  expected.erase(axis);
  const status checked = check_all({check_tensor("a scan output", element, y.type),
                                    check_shape("an element of a scan output", element.shape, expected)});
  if (!checked) return checked;
  const std::int64_t inner = y.shape.count(axis + 1, y.shape.rank()), count = expected.count();
  if (count == 0) return {};
  if (count == inner) {
    std::size_t bytes = 0;
    if (!whole_bytes(y.type, inner, bytes)) return not_in_bytes(y.type, expected);
    std::memcpy(bytes_of(y) + std::size_t(at) * bytes, element.data, bytes);
    return {};
  }
  if (bits_of(y.type) < 8) return not_in_bytes(y.type, expected);
  strided_copy copy{element_bytes(y.type)};
  copy.loop(count / inner, inner, y.shape[axis] * inner);
  copy.loop(inner, 1, 1);
  copy.run(c, element.data, bytes_of(y) + std::size_t(at * inner) * element_bytes(y.type));
  return {};
}

/// Returns the shapes of a body's outputs from `first` on, one for each of `count` outputs that the node stacks, as far
/// as they are known or declared, with unknown sizes as 0. They are the shapes of the outputs if there are no
/// iterations.
inline result<std::span<const extents>> stacked_shapes(bind_context& c, int body, std::size_t first,
                                                       std::size_t count) {
  const result<std::span<extents>> shapes = c.state.take<extents>(count);
  if (!shapes) return status_code::out_of_memory;
  for (std::size_t k = 0; k < count; ++k) {
    const operand* const element = c.declared_subgraph_output(std::size_t(body), first + k);
    extents& shape = (*shapes)[k];
    shape = element && element->has_rank ? element->shape : extents{};
    for (std::int64_t& d : shape) d = std::max<std::int64_t>(d, 0);
  }
  return std::span<const extents>{*shapes};
}

}  // namespace CAMEO_NAMESPACE::eps
