#pragma once
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE {

/// True if ONNX Runtime does not check the attributes of this operator's nodes: it loads files with attributes that the
/// operator does not have, and ignores these.
bool has_unchecked_attributes(const op_row&);

}  // namespace CAMEO_NAMESPACE
