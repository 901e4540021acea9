#pragma once
#include <cameo/core/abi.hpp>

#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// For the member of a kernel that is compiled in a .cpp: `static constexpr bool instantiated = is_one_of<T, ...>`.
template <class T, class... Ts>
inline constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

/// True if the type of an elementwise operator's first input is all that chooses its loop; specialised where an
/// attribute or another type does, too.
template <class Op>
inline constexpr bool chosen_by_type = true;

}  // namespace CAMEO_NAMESPACE::eps
