#include <cameo/eps/cpu/detail/narrow_rows.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <cmath>

#include "functions/form.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/zip.hpp"

// Pow has a separate type for exponents. Exponents are converted, block by block, to one of three types: float if float
// holds them, double for double and large integers, and int64 so that powers of integers are exact.
namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes the power of an integer: exactly for exponents of at least 0, if it does not overflow; else it wraps
/// around. Negative exponents are computed in double.
template <class T>
T integer_power(T base, std::int64_t exponent) {
  if (exponent < 0) return as_element<T>(std::pow(double(base), double(exponent)));
  wrapping<T> product = 1, square = wrapping<T>(base);
  for (auto left = std::uint64_t(exponent); left; left >>= 1, square *= square)
    if (left & 1) product *= square;
  return T(product);
}
/// A power of a float and a double is computed in double; an integer result is truncated toward zero and saturated.
template <class T, class E>
T power(T base, E exponent) {
  if constexpr (std::is_integral_v<E>) return integer_power(base, exponent);
  else if constexpr (std::is_integral_v<T>) return as_element<T>(std::pow(double(base), exponent));
  else return T(std::pow(base, exponent));
}

template <class T, class E>
void power_block(const T* base, std::int64_t step, const E* exponent, std::int64_t exponent_step, T* out,
                 std::int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent_step == 0 && step && (*exponent == E(2) || *exponent == E(3))) {  // the exponents of most models
      const bool cubes = *exponent == E(3);
      if constexpr (std::is_same_v<T, float>)
        if (!cubes) return zip_floats<op::Mul>(base, 1, base, 1, out, n);
      for (std::int64_t i = 0; i < n; ++i) out[i] = cubes ? base[i] * base[i] * base[i] : base[i] * base[i];
      return;
    }
  }
  for (std::int64_t i = 0; i < n; ++i) out[i] = power<T, E>(base[i * step], exponent[i * exponent_step]);
}

template <class From, class E>
void read_exponents(const From* from, E* to, std::int64_t n) {
  if constexpr (is_narrow_v<From>) {
    float wide[narrow_block];
    widen_row(from, wide, n);
    for (std::int64_t i = 0; i < n; ++i) to[i] = E(wide[i]);
  } else if constexpr (std::is_same_v<From, std::uint64_t> && std::is_same_v<E, std::int64_t>) {
    // An exponent of 2^63 or more, which int64 cannot hold, becomes 2^62 or 2^62 + 1, whichever has the same parity.
    // The powers of 0, 1 and -1 stay the same; those of other numbers overflow with either exponent.
    for (std::int64_t i = 0; i < n; ++i) to[i] = E(from[i] >> 63 ? (from[i] & 1) | (std::uint64_t{1} << 62) : from[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i] = E(from[i]);
  }
}

/// T is the type of the base, C the type of the arithmetic, From the type of exponents, and E what they are converted
/// to.
template <class T, class C, class From, class E>
void power_row(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t n) {
  E exponents[narrow_block];
  [[maybe_unused]] C wide[narrow_block], raised[narrow_block];
  for (std::int64_t done = 0; done < n; done += narrow_block) {
    const std::int64_t m = std::min(narrow_block, n - done);
    if (b_step || done == 0) read_exponents(static_cast<const From*>(b) + done * b_step, exponents, b_step ? m : 1);
    const T* const base = static_cast<const T*>(a) + done * a_step;
    T* const to = static_cast<T*>(out) + done;
    if constexpr (is_narrow_v<T>) {
      widen_row(base, wide, a_step ? m : 1);
      power_block<C, E>(wide, a_step, exponents, b_step, raised, m);
      narrow_row(raised, to, m);
    } else {
      power_block<C, E>(base, a_step, exponents, b_step, to, m);
    }
  }
}

template <class T, class From>
constexpr binary_row row_for_types() {
  using C = std::conditional_t<is_narrow_v<T>, float, T>;
  constexpr bool exact_in_float = is_narrow_v<From> || std::is_same_v<From, float> || sizeof(From) < 4;
  if constexpr (std::is_integral_v<T>)
    return power_row<T, C, From, std::conditional_t<std::is_integral_v<From>, std::int64_t, double>>;
  else if constexpr (std::is_same_v<C, float> && exact_in_float) return power_row<T, C, From, float>;
  else return power_row<T, C, From, double>;
}

binary_row row_for(dtype base, dtype exponent) {
  return base_elements::visit(base, binary_row{}, [&]<class T>(std::type_identity<T>) {
    return number_elements::visit(exponent, binary_row{},
                                  []<class E>(std::type_identity<E>) { return row_for_types<T, E>(); });
  });
}

}  // namespace

template <>
result<binary<op::Pow>> binary<op::Pow>::bind(bind_context& c) {
  binary made;
  made.finish(c, row_for(c.inputs[0].type, c.inputs[1].type));
  return made;
}

}  // namespace CAMEO_NAMESPACE::eps
