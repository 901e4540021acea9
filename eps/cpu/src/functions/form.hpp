#pragma once
#include <cameo/core/fixed_string.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// The variant of an operator that a text attribute `Value` selects: form<op::Gelu, "tanh">.
template <class Op, detail::fixed_string Value>
struct form {};

/// Matches operators that share a function: apply(one_of<op::A, op::B> auto, x).
template <class Op, class... Ops>
concept one_of = (std::is_same_v<Op, Ops> || ...);

/// The type of a numeric attribute of a function of V: double for integers, so that it is not truncated.
template <class V>
struct argument_of {
  using type = V;
};
template <class V>
  requires std::is_integral_v<V>
struct argument_of<V> {
  using type = double;
};
template <class V>
using argument = typename argument_of<V>::type;

/// The unsigned type, no narrower than int, in which integers of type T wrap around without undefined behavior.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// An element of a bool tensor as kernels read it: a file may contain bytes other than 0 and 1.
enum class truth : std::uint8_t {};
constexpr bool is_true(truth x) { return x != truth{}; }

/// The type that functions take for an element of T: float for float16 and bfloat16.
template <class T>
using computed =
    std::conditional_t<std::is_same_v<T, bool>, truth,
                       std::conditional_t<std::is_arithmetic_v<T> || std::is_same_v<T, std::string_view>, T, float>>;

}  // namespace CAMEO_NAMESPACE::eps
