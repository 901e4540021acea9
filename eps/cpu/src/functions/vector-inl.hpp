// A vector with the operators of a number, compiled once per instruction set: one source of a function serves for
// numbers and for vectors.
#include <hwy/highway.h>

#include <cameo/op/onnx.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions {
namespace hn = hwy::HWY_NAMESPACE;

/// A register of floats or doubles.
template <std::floating_point T>
struct lanes {
  using tag = hn::ScalableTag<T>;
  using raw = hn::Vec<tag>;
  raw v;

  HWY_INLINE lanes(raw from) : v{from} {}
  HWY_INLINE explicit lanes(T number) : v{hn::Set(tag{}, number)} {}
  static HWY_INLINE std::int64_t count() { return std::int64_t(hn::Lanes(tag{})); }

  friend HWY_INLINE lanes operator+(lanes a, lanes b) { return hn::Add(a.v, b.v); }
  friend HWY_INLINE lanes operator-(lanes a, lanes b) { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE lanes operator*(lanes a, lanes b) { return hn::Mul(a.v, b.v); }
  friend HWY_INLINE lanes operator/(lanes a, lanes b) { return hn::Div(a.v, b.v); }
  friend HWY_INLINE lanes operator-(lanes a) { return hn::Neg(a.v); }
  friend HWY_INLINE auto operator<(lanes a, lanes b) { return hn::Lt(a.v, b.v); }
  friend HWY_INLINE auto operator>(lanes a, lanes b) { return hn::Gt(a.v, b.v); }
  friend HWY_INLINE auto operator<=(lanes a, lanes b) { return hn::Le(a.v, b.v); }
  friend HWY_INLINE auto operator>=(lanes a, lanes b) { return hn::Ge(a.v, b.v); }
  friend HWY_INLINE auto operator==(lanes a, lanes b) { return hn::Eq(a.v, b.v); }
};

template <class V>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<lanes<T>> = true;

template <class T>
HWY_INLINE lanes<T> load(const T* x) {
  return hn::LoadU(typename lanes<T>::tag{}, x);
}
template <class T>
HWY_INLINE void store(lanes<T> a, T* y) {
  hn::StoreU(a.v, typename lanes<T>::tag{}, y);
}

// --- basic operations that functions consist of, for numbers and vectors ---

template <class T>
HWY_INLINE T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
template <class M, class T>
HWY_INLINE lanes<T> select(M condition, lanes<T> yes, lanes<T> no) {
  return hn::IfThenElse(condition, yes.v, no.v);
}

/// a * b + c, rounded once if the processor has a fused multiply-add.
template <class T>
HWY_INLINE lanes<T> mul_add(lanes<T> a, lanes<T> b, lanes<T> c) {
  return hn::MulAdd(a.v, b.v, c.v);
}
template <class T>
HWY_INLINE lanes<T> abs(lanes<T> a) {
  return hn::Abs(a.v);
}
/// The magnitude of a with the sign of b.
template <class T>
HWY_INLINE lanes<T> copy_sign(lanes<T> a, lanes<T> b) {
  return hn::CopySign(a.v, b.v);
}
template <class T>
HWY_INLINE lanes<T> sqrt(lanes<T> a) {
  return hn::Sqrt(a.v);
}
/// A rounded zero keeps the sign of its argument; Highway's code for single numbers loses it.
template <class T>
HWY_INLINE lanes<T> as_signed(lanes<T> rounded, lanes<T> from) {
  if constexpr (hn::MaxLanes(typename lanes<T>::tag{}) == 1) return copy_sign(rounded, from);
  else return rounded;
}
template <class T>
HWY_INLINE lanes<T> floor(lanes<T> a) {
  return as_signed(lanes<T>(hn::Floor(a.v)), a);
}
template <class T>
HWY_INLINE lanes<T> ceil(lanes<T> a) {
  return as_signed(lanes<T>(hn::Ceil(a.v)), a);
}
/// Rounds to the nearest integer, ties to even.
template <class T>
HWY_INLINE lanes<T> nearest(lanes<T> a) {
  return hn::Round(a.v);
}

/// Applies a scalar function to each lane, where there is no vector function.
template <class T, class F>
HWY_INLINE lanes<T> each(lanes<T> a, const F& f) {
  HWY_ALIGN T all[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(a.v, typename lanes<T>::tag{}, all);
  for (std::int64_t i = 0; i < lanes<T>::count(); ++i) all[i] = f(all[i]);
  return hn::Load(typename lanes<T>::tag{}, all);
}
template <class T, class F>
HWY_INLINE lanes<T> each(lanes<T> a, lanes<T> b, const F& f) {
  HWY_ALIGN T all[HWY_MAX_BYTES / sizeof(T)], others[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(a.v, typename lanes<T>::tag{}, all), hn::Store(b.v, typename lanes<T>::tag{}, others);
  for (std::int64_t i = 0; i < lanes<T>::count(); ++i) all[i] = f(all[i], others[i]);
  return hn::Load(typename lanes<T>::tag{}, all);
}
/// `made` in lanes where `fits` is true; f of the number elsewhere. A lane never depends on other lanes.
template <class T, class M, class F>
HWY_INLINE lanes<T> where_it_fits(M fits, lanes<T> a, lanes<T> made, const F& f) {
  if (hn::AllTrue(typename lanes<T>::tag{}, fits)) return made;
  return select(fits, made, each(a, f));
}

// The piecewise linear functions of one operand, which matrix products also apply to sums in registers; all others are
// in maps-inl.hpp.

template <class V>
HWY_INLINE V apply(op::Relu, V x) {
  return select(x < V(0), V(0), x);
}
template <class V>
HWY_INLINE V apply(op::LeakyRelu, V x, V alpha) {
  return select(x < V(0), alpha * x, x);
}
template <class V>
HWY_INLINE V between_zero_and_one(V x) {
  return select(x < V(0), V(0), select(x > V(1), V(1), x));
}
template <class V>
HWY_INLINE V apply(op::HardSigmoid, V x, V alpha, V beta) {
  return between_zero_and_one(mul_add(alpha, x, beta));
}
/// Clip as the activation of another operator: the bounds are constants of the node.
template <class V>
HWY_INLINE V apply(op::Clip, V x, V low, V high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::functions
HWY_AFTER_NAMESPACE();
