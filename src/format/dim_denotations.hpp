#pragma once
#include <cameo/core/abi.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

CAMEO_BEGIN_NAMESPACE

/// The denotations of a tensor's dims ("DATA_BATCH"), as in graph_value::unknown: the rest of a ValueInfoProto.
/// Empty if no dim has a denotation.
std::string keep_dim_denotations(std::span<const std::string_view> by_dim);
// The other way is onnx_format::dim_denotations, of <cameo/format/onnx.hpp>.

CAMEO_END_NAMESPACE
