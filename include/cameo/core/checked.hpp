#pragma once
#include <cameo/core/abi.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

CAMEO_BEGIN_NAMESPACE

/// Multiplies sizes that come from files. Returns true with the product in `out`, or false when it overflows.
template <std::integral T>
[[nodiscard]] constexpr bool checked_multiply(T a, T b, T& out) {
  return !__builtin_mul_overflow(a, b, &out);
}
/// Adds sizes that come from files. Returns true with the sum in `out`, or false when it overflows.
template <std::integral T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T& out) {
  return !__builtin_add_overflow(a, b, &out);
}
namespace detail {
/// Rounds up to a multiple of `alignment`, a power of two.
[[nodiscard]] constexpr std::size_t align_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}
}  // namespace detail

CAMEO_END_NAMESPACE
