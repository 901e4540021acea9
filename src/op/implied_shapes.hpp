#pragma once
#include <cameo/op/op.hpp>

CAMEO_BEGIN_NAMESPACE
namespace detail {

/// The shape function that an operator's roles imply, for an operator without its own.
infer_function implied_shapes(role roles);

}  // namespace detail
CAMEO_END_NAMESPACE
