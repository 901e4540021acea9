#pragma once
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE::detail {

/// The shape function that an operator's roles imply, for an operator without its own.
infer_function implied_shapes(role roles);

}  // namespace CAMEO_NAMESPACE::detail
