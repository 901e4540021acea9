#pragma once
#include <cameo/core/abi.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace CAMEO_NAMESPACE {

namespace detail {
/// checked_multiply and checked_add for compilers without built-in functions for them.
template <std::integral T>
struct portable_checked {
  static constexpr T least = T(-1) < T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(0), most = T(~least);

  [[nodiscard]] static constexpr bool multiply(T a, T b, T& out) {
    bool fits = true;
    if (a > 0) fits = b > 0 ? a <= most / b : b >= least / a;
    else if (a < 0) fits = b > 0 ? a >= least / b : b == 0 || b >= most / a;
    return fits && (out = T(a * b), true);
  }
  [[nodiscard]] static constexpr bool add(T a, T b, T& out) {
    const bool fits = b > 0 ? a <= T(most - b) : a >= T(least - b);
    return fits && (out = T(a + b), true);
  }
};
}  // namespace detail

/// Multiplies sizes that come from files. Returns true with the product in `out`, or false when it overflows.
template <std::integral T>
[[nodiscard]] constexpr bool checked_multiply(T a, T b, T& out) {
#ifdef __GNUC__  // of clang, too
  return !__builtin_mul_overflow(a, b, &out);
#else
  return detail::portable_checked<T>::multiply(a, b, out);
#endif
}
/// Adds sizes that come from files. Returns true with the sum in `out`, or false when it overflows.
template <std::integral T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T& out) {
#ifdef __GNUC__
  return !__builtin_add_overflow(a, b, &out);
#else
  return detail::portable_checked<T>::add(a, b, out);
#endif
}
namespace detail {
/// Rounds up to a multiple of `alignment`, a power of two.
[[nodiscard]] constexpr std::size_t align_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
