#pragma once
#include <cameo/op/op.hpp>

namespace cameo::inline CAMEO_ABI {

/// Whether ONNX Runtime leaves the attributes of this operator's nodes unchecked, so that it loads files with an
/// attribute that the operator does not have. It ignores such an attribute.
bool has_unchecked_attributes(const op_row&);

}  // namespace cameo::inline CAMEO_ABI
