#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Adds elements before and after each axis: a constant, or reflected, edge or wrapped ones of the input. Negative
/// amounts cut, before anything is added.
struct pad {
  using elements = detail::all_elements;
  struct padded_axis;
  enum class fill : std::uint8_t { constant, reflect, edge, wrap };
  fill mode;
  const attribute* amounts;  // versions 1 and 2; later ones have an input
  float number;              // the constant to pad with, likewise
  static result<pad> bind(bind_context& c);
  status run(run_context& c) const;

 protected:
  static result<pad> of_mode(const bind_context& c, bool may_wrap);

 private:
  status fill_padding(run_context& c, const value& x, std::span<const padded_axis> axes, const value& y) const;
};

/// com.microsoft's, whose amounts are always an input, [2 * rank] or [1, 2 * rank].
struct microsoft_pad : pad {
  static result<microsoft_pad> bind(bind_context& c);
};

}  // namespace CAMEO_NAMESPACE::eps
