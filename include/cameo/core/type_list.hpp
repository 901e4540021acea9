#pragma once
#include <cameo/core/abi.hpp>

CAMEO_BEGIN_NAMESPACE

/// A list of types as one type, to pass on and to take apart by specialisation. It is never instantiated as an object.
template <class... Ts>
struct type_list {};

CAMEO_END_NAMESPACE
