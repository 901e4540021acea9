#pragma once
#include <cameo/core/abi.hpp>

namespace cameo::inline CAMEO_ABI {

/// A list of types as one type, to pass around and to take apart by specialisation. Never holds a value.
template <class... Ts>
struct type_list {};

}  // namespace cameo::inline CAMEO_ABI
