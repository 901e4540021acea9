// Elementwise operators of one input, compiled once per instruction set: loops that call a function of
// functions/maps-inl.hpp for an element type. elementwise/map_rows.hpp lists the operators with their types.
#include <cameo/eps/cpu/detail/narrow_rows.hpp>

#include <algorithm>
#include <utility>

#include "functions/maps-inl.hpp"
#include "map.hpp"
#include "row_list.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons {
using functions::lanes;

/// The result type of the function for an argument V and as many parameters as it takes; void if no function takes a V.
template <class Op, class V>
consteval auto mapped_of() {
  using functions::apply;
  using A = argument<V>;
  if constexpr (requires(V x) { apply(Op{}, x); })
    return std::type_identity<decltype(apply(Op{}, std::declval<V>()))>{};
  else if constexpr (requires(V x, A a) { apply(Op{}, x, a); })
    return std::type_identity<decltype(apply(Op{}, std::declval<V>(), std::declval<A>()))>{};
  else if constexpr (requires(V x, A a) { apply(Op{}, x, a, a); })
    return std::type_identity<decltype(apply(Op{}, std::declval<V>(), std::declval<A>(), std::declval<A>()))>{};
  else return std::type_identity<void>{};
}
template <class Op, class V>
using mapped = typename decltype(mapped_of<Op, V>())::type;

template <class Op, class V>
HWY_INLINE mapped<Op, V> call(V x, [[maybe_unused]] argument<V> a, [[maybe_unused]] argument<V> b) {
  using functions::apply;
  if constexpr (requires { apply(Op{}, x); }) return apply(Op{}, x);
  else if constexpr (requires { apply(Op{}, x, a); }) return apply(Op{}, x, a);
  else return apply(Op{}, x, a, b);
}

/// True if the loop calls the function with vectors. Functions with results of another type, such as IsNaN, and those
/// of integers are called with single elements; compilers vectorize these loops.
template <class Op, class T>
inline constexpr bool maps_vectors = false;
template <class Op, std::floating_point T>
inline constexpr bool maps_vectors<Op, T> = std::is_same_v<mapped<Op, lanes<T>>, lanes<T>>;
template <class Op, class T>
using mapped_element = std::conditional_t<maps_vectors<Op, T>, T, mapped<Op, T>>;

/// y = f(x) for whole vectors; the rest is computed as a vector in a buffer, so that the same instructions compute it.
template <class Op, class T>
void map_lanes(const unary_parameters& p, const T* x, T* y, std::int64_t n) {
  constexpr std::int64_t most = HWY_MAX_BYTES / sizeof(T);
  const std::int64_t step = lanes<T>::count(), whole = n - n % step;
  const lanes<T> a(T(p.a)), b(T(p.b));
  for (std::int64_t i = 0; i < whole; i += step) functions::store(call<Op>(functions::load(x + i), a, b), y + i);
  if (whole == n) return;
  T some[2][most];
  for (std::int64_t i = 0; i < step; ++i) some[0][i] = x[std::min(whole + i, n - 1)];
  map_lanes<Op>(p, some[0], some[1], step);
  std::copy_n(some[1], n - whole, y + whole);
}

template <class Op, class T, class R>
void map_row(const unary_parameters& p, const void* x, void* out, std::int64_t n) {
  const T* const from = static_cast<const T*>(x);
  R* const to = static_cast<R*>(out);
  if constexpr (maps_vectors<Op, T>) {
    map_lanes<Op>(p, from, to, n);
  } else {
    const auto a = argument<T>(p.a), b = argument<T>(p.b);
    CAMEO_SIMD_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) to[i] = R(call<Op>(from[i], a, b));
  }
}

/// The loop for float16 and bfloat16, which converts to float, block by block. `row` is the operator's loop for float,
/// so that this code is not compiled for each operator.
template <class T, class R>
void map_through_float(const unary_parameters& p, const void* x, void* out, std::int64_t n, unary_row row) {
  float wide[narrow_block];
  for (std::int64_t done = 0; done < n; done += narrow_block) {
    const std::int64_t m = std::min(narrow_block, n - done);
    widen_row(static_cast<const T*>(x) + done, wide, m);
    if constexpr (std::is_same_v<R, float>) {
      row(p, wide, wide, m);
      narrow_row(wide, static_cast<T*>(out) + done, m);
    } else {
      row(p, wide, static_cast<R*>(out) + done, m);
    }
  }
}

template <class Loop>
void any_map_row(const unary_parameters& p, const void* x, void* out, std::int64_t n) {
  using Op = typename Loop::function;
  using T = typename Loop::element;
  using C = computed<T>;
  using R = mapped_element<Op, C>;
  static_assert(!std::is_void_v<R>,
                "cameo: no function of functions/maps-inl.hpp computes this operator for an element type of its row");
  if constexpr (!std::is_void_v<R>) {
    if constexpr (std::is_same_v<C, T> || !std::is_same_v<C, float>) map_row<Op, C, R>(p, x, out, n);
    else map_through_float<T, R>(p, x, out, n, map_row<Op, float, R>);
  }
}

template <class F>
void map_float_row(const unary_parameters& p, const float* x, float* y, std::int64_t n) {
  map_row<F, float, float>(p, x, y, n);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class F, class T>
unary_row map_loop() {
  using loop = loop_of_type<F, T>;
  return CAMEO_SIMD_BEST(skeletons::any_map_row<loop>);
}

template <class F>
void map_floats(const float* x, float* y, std::int64_t n, const unary_parameters& p) {
  CAMEO_SIMD_BEST(skeletons::map_float_row<F>)(p, x, y, n);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
