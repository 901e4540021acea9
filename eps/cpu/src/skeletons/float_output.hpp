#pragma once
#include "float_values.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Makes output `i`; returns `otherwise` if the node does not have it.
inline result<value*> optional_output(run_context& c, std::size_t i, const extents& shape, value* otherwise = nullptr) {
  if (!c.has_output(i)) return otherwise;
  return c.output(i, shape);
}

/// An optional output of a floating-point type that a kernel computes as C: in the output's memory if it has that type,
/// else in scratch memory, which store() rounds to the output's type.
template <class C>
struct float_output {
  value* tensor = nullptr;  // null: the node does not have the output, and `data` is null too
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

/// Makes output `i`, of float, and returns its elements; null if the node does not have it.
inline result<float*> optional_floats(run_context& c, std::size_t i, const extents& shape) {
  const result<value*> made = optional_output(c, i, shape);
  if (!made) return made.error();
  return *made ? static_cast<float*>((*made)->data) : nullptr;
}
/// Makes output `i`, of any floating-point type, from numbers of C, if the node has it.
template <class C>
status write_optional(run_context& c, std::size_t i, const extents& shape, const C* from) {
  const result<value*> out = optional_output(c, i, shape);
  if (!out) return out.error();
  if (*out) store_floats(from, (*out)->type, (*out)->data, shape.count());
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
