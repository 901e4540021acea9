#pragma once
#include <cameo/core/abi.hpp>

namespace cameo::inline CAMEO_ABI {

/// A list of types as one type, to pass on and to take apart by specialisation. It is never instantiated as an object.
template <class... Ts>
struct type_list {};

}  // namespace cameo::inline CAMEO_ABI
