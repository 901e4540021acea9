#pragma once
#include <cameo/op/attributes/microsoft.hpp>

namespace CAMEO_NAMESPACE {

/// The attributes of a node with the role is_compiled_context.
using compiled_context_attributes = attributes_of<op::microsoft::EPContext>;

}  // namespace CAMEO_NAMESPACE
