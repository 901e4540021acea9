#pragma once
#include <cameo/core/result.hpp>
#include <cameo/op/op.hpp>

#include <map>
#include <vector>

namespace CAMEO_NAMESPACE {

/// Types of parameters by their type strings, with ONNX's numbers.
using type_choices = std::map<std::string_view, std::int32_t>;

/// The types that a parameter of a version may have.
detail::type_mask types_of(const op_version&, const parameter&);
/// The only type of a set; 0 if it has several.
std::int32_t only_type(detail::type_mask);

/// All combinations of the allowed types of a version's outputs. INVALID_ARGUMENT for outputs whose types do not follow
/// from the inputs, for parameters that have no allowed type, and for more combinations than `most`.
result<std::vector<type_choices>> output_types(const op_version&, detail::type_mask allowed, std::size_t most);

}  // namespace CAMEO_NAMESPACE
