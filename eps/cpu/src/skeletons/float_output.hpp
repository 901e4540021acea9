#pragma once
#include "float_values.hpp"

namespace CAMEO_NAMESPACE::eps {

/// An output that a node may leave out: then `otherwise`.
inline result<value*> optional_output(run_context& c, std::size_t i, const extents& shape, value* otherwise = nullptr) {
  if (!c.has_output(i)) return otherwise;
  return c.output(i, shape);
}

/// An output of a float type that a kernel computes as C: in the output's memory, or in scratch, which store() rounds
/// into it.
template <class C>
struct float_output {
  value* tensor = nullptr;  // null: the node does not have it, and `data` is null
  C* data = nullptr;

  static result<float_output> make(run_context& c, std::size_t i, const extents& shape) {
    if (!c.has_output(i)) return float_output{};
    const result<value*> made = c.output(i, shape);
    if (!made) return made.error();
    if ((*made)->type == dtype_of<C>) return float_output{*made, static_cast<C*>((*made)->data)};
    const result<std::span<C>> room = c.scratch<C>(std::size_t((*made)->shape.count()));
    if (!room) return room.error();
    return float_output{*made, room->data()};
  }
  void store(run_context& c) const {
    if (tensor && data != tensor->data) store_floats(c, data, tensor->type, tensor->data, tensor->shape.count());
  }
};

/// The elements of an output of float, or null where a node leaves it out.
inline result<float*> optional_floats(run_context& c, std::size_t i, const extents& shape) {
  const result<value*> made = optional_output(c, i, shape);
  if (!made) return made.error();
  return *made ? static_cast<float*>((*made)->data) : nullptr;
}
/// Numbers of an output of a float type, if the node has it.
template <class C>
status write_optional(run_context& c, std::size_t i, const extents& shape, const C* from) {
  const result<value*> out = optional_output(c, i, shape);
  if (!out) return out.error();
  if (*out) store_floats(from, (*out)->type, (*out)->data, shape.count());
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
