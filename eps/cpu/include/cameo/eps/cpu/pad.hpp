#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Pad: adds elements before and after each axis: a constant, or elements of the input (reflected, edge or wrapped).
/// Negative amounts remove elements, before any are added.
struct pad {
  using elements = detail::all_elements;
  using fill = op::pad_mode_choice;
  fill mode;
  attribute_list<std::int64_t> amounts;  // in versions 1 and 2; later versions have an input
  float number;                          // the constant to pad with, in versions 1 and 2
  static result<pad> bind(bind_context& c);
  status run(run_context& c) const;
};

/// com.microsoft's Pad, whose amounts are always an input, [2 * rank] or [1, 2 * rank].
struct microsoft_pad : pad {
  static result<microsoft_pad> bind(bind_context& c);
};

}  // namespace CAMEO_NAMESPACE::eps
