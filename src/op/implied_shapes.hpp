#pragma once
#include <cameo/op/op.hpp>

namespace cameo::inline CAMEO_ABI::detail {

/// The shape function that an operator's roles imply, for one that has none of its own.
infer_function implied_shapes(role roles);

}  // namespace cameo::inline CAMEO_ABI::detail
