#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// y[i] = x[i] in another type: Cast and CastLike, every type to every other except complex ones.
///   float to float      to nearest, ties to even; `saturate` and `round_mode` as ONNX has them
///   float to integer    cut towards zero; then out of range: int32, int64 and uint64 end at their ends, narrower ones
///                       keep the low bits; NaN is 0. (ONNX leaves this open; this is what others' programs rely on.)
///   integer to integer  keeps the low bits
///   anything to bool    whether it is not zero
///   string to number    a decimal number, INF or NaN in any case, blanks around it; anything else is INVALID_ARGUMENT
///   number to string    as numpy writes it: the fewest digits that read back as the same number; floats have a point
///                       or an exponent (1.0, 1e+16), nan or inf
/// y may be x where the types have one size. Allocates nothing, except a run's text.
struct cast_state {
  using elements = cast_elements;
  dtype from = dtype::undefined, to = dtype::undefined;
  bool saturate = true;
  enum class rounding : std::uint8_t { up, down, nearest } round = rounding::up;  // to float8e8m0

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
