#pragma once
#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/kernel/run_context.hpp>

namespace cameo::inline CAMEO_ABI::eps {

// For kernels that compute in float with elements stored in 16 bits, tensor by tensor.

/// The elements of an input as numbers to compute with: the input itself, or a wide copy in scratch. Null data for an
/// absent input.
template <class Number, class T>
result<const Number*> as_numbers(run_context& c, const tensor_view<const T>& from) {
  if constexpr (std::is_same_v<Number, T>) {
    return from.data();
  } else {
    result<std::span<Number>> to = c.scratch<Number>(from.size());
    if (!to) return to.error();
    parallel_elements(c, from.count(), 1 << 16, [&](std::int64_t first, std::int64_t last) {
      widen_row(from.data() + first, to->data() + first, last - first);
    });
    return to->data();
  }
}
template <class Number, class T>
result<const Number*> as_numbers(run_context& c, std::size_t input) {
  if (!c.has_input(input) || !c.input(input)) return static_cast<const Number*>(nullptr);
  return as_numbers<Number>(c, c.input<T>(input));
}

/// Where to compute an output: the output itself, or scratch that store_numbers() rounds into it.
template <class Number, class T>
result<Number*> room_for_numbers(run_context& c, const tensor_view<T>& output) {
  if constexpr (std::is_same_v<Number, T>) {
    return output.data();
  } else {
    result<std::span<Number>> room = c.scratch<Number>(output.size());
    if (!room) return room.error();
    return room->data();
  }
}
template <class Number, class T>
void store_numbers(run_context& c, const Number* from, const tensor_view<T>& output) {
  if constexpr (!std::is_same_v<Number, T>)
    parallel_elements(c, output.count(), 1 << 16, [&](std::int64_t first, std::int64_t last) {
      narrow_row(from + first, output.data() + first, last - first);
    });
}

}  // namespace cameo::inline CAMEO_ABI::eps
