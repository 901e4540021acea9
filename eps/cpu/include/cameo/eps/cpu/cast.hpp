#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Cast and CastLike: y[i] = x[i] in another type. Every type is converted to every other, except complex numbers.
///   float to float      to nearest, ties to even; `saturate` and `round_mode` as ONNX defines them
///   float to integer    truncated toward zero; NaN becomes 0. Out of range, int32, int64 and uint64 saturate, and
///                       smaller types keep the low bits. (ONNX leaves this open; existing models rely on it.)
///   integer to integer  keeps the low bits
///   anything to bool    true if the number is not zero
///   string to number    a decimal number, INF or NaN in any case, perhaps with blanks around it; any other text is
///                       INVALID_ARGUMENT
///   number to string    as numpy writes it: the fewest digits that read back as the same number; floats have a point
///                       or an exponent (1.0, 1e+16), or are nan or inf
/// y may be the buffer of x if the elements have the same size. Allocates nothing, except the text of strings.
struct cast_state {
  using elements = cast_elements;
  dtype source = dtype::undefined, target = dtype::undefined;
  bool saturate = true;
  using rounding = op::round_mode_choice;
  rounding round = rounding::up;  // for float8e8m0

  void (*direct)(const void* from, void* to, std::int64_t n) = nullptr;  // a loop for the two types, where there is one

  status run(run_context&) const;
};
struct cast : cast_state {
  static result<cast> bind(bind_context&);
};
struct cast_like : cast_state {
  static result<cast_like> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
