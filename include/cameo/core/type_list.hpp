#pragma once
#include <cameo/core/abi.hpp>

namespace CAMEO_NAMESPACE {

/// A list of types as one type, which specializations take apart. It is never instantiated as an object.
template <class... Ts>
struct type_list {};

}  // namespace CAMEO_NAMESPACE
