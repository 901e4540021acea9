#pragma once
#include <cameo/op/op.hpp>

CAMEO_BEGIN_NAMESPACE

/// Whether ONNX Runtime leaves the attributes of this operator's nodes unchecked, so that it loads files with an
/// attribute that the operator does not have. It ignores such an attribute.
bool has_unchecked_attributes(const op_row&);

CAMEO_END_NAMESPACE
