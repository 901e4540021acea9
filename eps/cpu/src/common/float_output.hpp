#pragma once
#include "float_values.hpp"

namespace cameo::inline CAMEO_ABI::eps {

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

}  // namespace cameo::inline CAMEO_ABI::eps
