#pragma once
#include <cameo/core/abi.hpp>

#include <span>
#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// Encodes the denotations of a tensor's dims ("DATA_BATCH") as graph_value::unknown has them: the rest of a
/// ValueInfoProto. Empty if no dim has a denotation.
std::string keep_dim_denotations(std::span<const std::string_view> by_dim);
// The inverse is onnx_format::dim_denotations() in <cameo/format/onnx.hpp>.

}  // namespace CAMEO_NAMESPACE
