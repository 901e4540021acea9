// The functions of operators with two operands, compiled once per instruction set: `apply(op::X{}, a, b)`. V is a
// vector of float or double, or a number of another type. Integers wrap around; comparisons with NaN are false.
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "elementary-inl.hpp"
#include "form.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions {

// --- arithmetic ---

template <class V>
HWY_INLINE V apply(op::Add, V a, V b) {
  if constexpr (std::is_integral_v<V>) return V(wrapping<V>(a) + wrapping<V>(b));
  else return a + b;
}
template <class V>
HWY_INLINE V apply(op::Sub, V a, V b) {
  if constexpr (std::is_integral_v<V>) return V(wrapping<V>(a) - wrapping<V>(b));
  else return a - b;
}
template <class V>
HWY_INLINE V apply(op::Mul, V a, V b) {
  if constexpr (std::is_integral_v<V>) return V(wrapping<V>(a) * wrapping<V>(b));
  else return a * b;
}
/// Integers truncate; the smallest integer divided by -1 wraps around to itself. b is not 0.
template <class V>
HWY_INLINE V apply(op::Div, V a, V b) {
  if constexpr (std::is_integral_v<V> && std::is_signed_v<V>) {
    if (b == V(-1)) return V(wrapping<V>(0) - wrapping<V>(a));
  }
  return V(a / b);
}
/// Mod with fmod = 1: the remainder has the sign of a.
template <class V>
HWY_INLINE V apply(form<op::Mod, "fmod">, V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    if constexpr (std::is_signed_v<V>)
      if (b == V(-1)) return 0;
    return V(a % b);
  } else {
    return each(a, b, [](auto x, auto y) { return std::fmod(x, y); });
  }
}
/// Mod with fmod = 0: the remainder has the sign of b.
template <class V>
HWY_INLINE V apply(op::Mod, V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    const V rest = apply(form<op::Mod, "fmod">{}, a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? V(rest + b) : rest;
  } else {
    return each(a, b, [](auto x, auto y) {
      const auto rest = std::fmod(x, y);
      if (rest == 0) return std::copysign(rest, y);
      return (rest < 0) != (y < 0) ? rest + y : rest;
    });
  }
}
template <class V>
HWY_INLINE V apply(op::PRelu, V x, V slope) {
  return select(x < V(0), apply(op::Mul{}, x, slope), x);
}
/// The kernel of Mean divides the sum by the number of operands afterwards.
template <class V>
HWY_INLINE V apply(one_of<op::Sum, op::Mean> auto, V a, V b) {
  return a + b;
}
template <class V>
HWY_INLINE V apply(op::Min, V a, V b) {
  return select(a < b, a, select(a == a, b, a));
}
template <class V>
HWY_INLINE V apply(op::Max, V a, V b) {
  return select(a > b, a, select(a == a, b, a));
}
template <class V>
HWY_INLINE V apply(op::microsoft::BiasGelu, V x, V bias) {
  return gelu(x + bias);
}
template <class V>
HWY_INLINE V apply(op::microsoft::FastGelu, V x, V bias) {
  return gelu_by_tanh(x + bias);
}

// --- logic: bytes of bool tensors, which may be other than 0 and 1 in a file ---

template <class V>
HWY_INLINE bool apply(op::And, V a, V b) {
  return is_true(a) && is_true(b);
}
template <class V>
HWY_INLINE bool apply(op::Or, V a, V b) {
  return is_true(a) || is_true(b);
}
template <class V>
HWY_INLINE bool apply(op::Xor, V a, V b) {
  return is_true(a) != is_true(b);
}

// --- comparisons ---

template <class V>
HWY_INLINE bool apply(op::Equal, const V& a, const V& b) {
  if constexpr (std::is_same_v<V, truth>) return is_true(a) == is_true(b);
  else return a == b;
}
template <class V>
HWY_INLINE bool apply(op::Less, V a, V b) {
  return a < b;
}
template <class V>
HWY_INLINE bool apply(op::LessOrEqual, V a, V b) {
  return a <= b;
}
template <class V>
HWY_INLINE bool apply(op::Greater, V a, V b) {
  return a > b;
}
template <class V>
HWY_INLINE bool apply(op::GreaterOrEqual, V a, V b) {
  return a >= b;
}

// --- bits ---

template <std::integral V>
HWY_INLINE V apply(op::BitwiseAnd, V a, V b) {
  return V(a & b);
}
template <std::integral V>
HWY_INLINE V apply(op::BitwiseOr, V a, V b) {
  return V(a | b);
}
template <std::integral V>
HWY_INLINE V apply(op::BitwiseXor, V a, V b) {
  return V(a ^ b);
}
/// False for negative shifts and for shifts by the width or more: then all bits are those that the shift fills in.
template <std::integral V>
HWY_INLINE bool within_width(V shift) {
  return std::make_unsigned_t<V>(shift) < 8 * sizeof(V);  // a negative shift becomes a large number
}
template <std::integral V>
HWY_INLINE V apply(form<op::BitShift, "LEFT">, V a, V by) {
  return within_width(by) ? V(wrapping<V>(a) << by) : V(0);
}
template <std::integral V>
HWY_INLINE V apply(form<op::BitShift, "RIGHT">, V a, V by) {
  if (within_width(by)) return V(a >> by);
  return a < V(0) ? V(-1) : V(0);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions
HWY_AFTER_NAMESPACE();
