// Elementwise operators of two inputs, compiled once per instruction set: loops that call a function of
// functions/zips-inl.hpp for an element type. elementwise/zip_rows.hpp lists the operators with their types.
#include <algorithm>
#include <utility>

#include "functions/zips-inl.hpp"
#include "row_list.hpp"
#include "zip.hpp"
#include "zip_loops.hpp"

HWY_BEFORE_NAMESPACE();
namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons {
using functions::lanes;

/// The result type of the function for two arguments V; void if no function takes a V.
template <class F, class V>
consteval auto zipped_of() {
  using functions::apply;
  if constexpr (requires(const V& x) { apply(F{}, x, x); })
    return std::type_identity<decltype(apply(F{}, std::declval<const V&>(), std::declval<const V&>()))>{};
  else return std::type_identity<void>{};
}
template <class F, class V>
using zipped = typename decltype(zipped_of<F, V>())::type;

/// True if the loop calls the function with vectors. Functions with results of another type, such as Less, and those of
/// integers are called with single elements; compilers vectorize these loops.
template <class F, class T>
inline constexpr bool zips_vectors = false;
template <class F, std::floating_point T>
inline constexpr bool zips_vectors<F, T> = std::is_same_v<zipped<F, lanes<T>>, lanes<T>>;
template <class F, class T>
using zipped_element = std::conditional_t<zips_vectors<F, T>, T, zipped<F, T>>;

/// z = f(x, y) for whole vectors; the rest is computed as a vector in buffers, so that the same instructions compute
/// it.
template <class F, class T>
HWY_NOINLINE void zip_lanes(const T* x, const T* y, T* z, std::int64_t n) {
  using functions::apply;
  constexpr std::int64_t most = HWY_MAX_BYTES / sizeof(T);
  const std::int64_t step = lanes<T>::count(), whole = n - n % step;
  for (std::int64_t i = 0; i < whole; i += step)
    functions::store(apply(F{}, functions::load(x + i), functions::load(y + i)), z + i);
  if (whole == n) return;
  T some[3][most];
  for (std::int64_t i = 0; i < step; ++i) {
    const std::int64_t at = std::min(whole + i, n - 1);
    some[0][i] = x[at], some[1][i] = y[at];
  }
  zip_lanes<F>(some[0], some[1], some[2], step);
  std::copy_n(some[2], n - whole, z + whole);
}

/// z = f(x, y) element by element, a loop that compilers vectorize, since z is one of the operands or does not overlap
/// them.
template <class F, class T, class R>
HWY_NOINLINE void zip_numbers(const T* x, const T* y, R* z, std::int64_t n) {
  using functions::apply;
  CAMEO_SIMD_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) z[i] = apply(F{}, x[i], y[i]);
}
/// The loop for two operands that both advance.
template <class F, class T, class R>
inline constexpr pair_loop<T, R> loop_of = [] {
  if constexpr (zips_vectors<F, T>) return zip_lanes<F, T>;
  else return zip_numbers<F, T, R>;
}();

template <class Loop>
void any_zip_row(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t n) {
  using F = typename Loop::function;
  using T = typename Loop::element;
  using C = computed<T>;
  using R = zipped_element<F, C>;
  static_assert(!std::is_void_v<R>,
                "cameo: no function of functions/zips-inl.hpp computes this operator for an element type of its row");
  if constexpr (!std::is_void_v<R>) zip_elements<T, C, R>(a, a_step, b, b_step, out, n, loop_of<F, C, R>);
}

/// F is an operator or a variant of one.
template <class F>
void zip_float_row(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z, std::int64_t n) {
  zip_steps(x, x_step, y, y_step, z, n, loop_of<F, float, float>);
}

}  // namespace CAMEO_NAMESPACE::eps::HWY_NAMESPACE::skeletons
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace CAMEO_NAMESPACE::eps {

template <class F, class T>
binary_row zip_loop() {
  using loop = loop_of_type<F, T>;
  return CAMEO_SIMD_BEST(skeletons::any_zip_row<loop>);
}

template <class F>
void zip_floats(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z, std::int64_t n) {
  CAMEO_SIMD_BEST(skeletons::zip_float_row<F>)(x, x_step, y, y_step, z, n);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
