#pragma once
#include <cameo/core/abi.hpp>

CAMEO_BEGIN_NAMESPACE

/// A list of types as one type, which specializations take apart. It is never instantiated as an object.
template <class... Ts>
struct type_list {};

CAMEO_END_NAMESPACE
