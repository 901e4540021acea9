#pragma once
#include <cameo/core/fixed_string.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// An operator that computes another function where a text attribute is `Value`: form<op::Gelu, "tanh">.
template <class Op, detail::fixed_string Value>
struct form {};

/// Operators that share a function: apply(one_of<op::A, op::B> auto, x).
template <class Op, class... Ops>
concept one_of = (std::is_same_v<Op, Ops> || ...);

/// What a numeric attribute is for a function of V: integers take it as it is, not cut to their type.
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

/// Unsigned and no narrower than int: where integers wrap.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

/// An element of a bool tensor as kernels read it: a file may hold other bytes than 0 and 1.
enum class truth : std::uint8_t {};
constexpr bool is_true(truth x) { return x != truth{}; }

/// What functions take for an element of T: narrow floats as float.
template <class T>
using computed =
    std::conditional_t<std::is_same_v<T, bool>, truth,
                       std::conditional_t<std::is_arithmetic_v<T> || std::is_same_v<T, std::string_view>, T, float>>;

}  // namespace CAMEO_NAMESPACE::eps
