#pragma once
#include <cameo/core/abi.hpp>

#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// True if T is one of the types Ts. A kernel template that a .cpp instantiates for some types lists them with it:
/// `static constexpr bool instantiated = is_one_of<T, ...>`.
template <class T, class... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

/// True if the element type of the first input alone decides which loop an elementwise operator runs; specialized as
/// false for operators whose loop also depends on an attribute or another type.
template <class Op>
inline constexpr bool chosen_by_type = true;

}  // namespace CAMEO_NAMESPACE::eps
