#pragma once
#include <cameo/core/refuse.hpp>

namespace CAMEO_NAMESPACE {

/// Checks of what is only given in a run: values of inputs, lengths that depend on values, and inputs that need each
/// other. Each is one mistake in one set of words, with the name of the input or attribute, what it has and what it
/// must have. What an operator demands of shapes and of attributes stands in its row instead: see op_version::shapes
/// and attribute_rule::values. All return INVALID_ARGUMENT.

/// "num_beams is 0, must be from 1 to 128".
constexpr status check_number(std::string_view name, std::int64_t has, std::int64_t least, std::int64_t most) {
  if (has >= least && has <= most) return {};
  return detail::refuse(status_code::invalid_argument, name, " is ", has, ", must be from ", least, " to ", most);
}
/// "min_length is -1, must be 0 or more".
constexpr status check_at_least(std::string_view name, std::int64_t has, std::int64_t least) {
  if (has >= least) return {};
  return detail::refuse(status_code::invalid_argument, name, " is ", has, ", must be ", least, " or more");
}
/// An index, a class, a token: "indices has 7, must be from 0 to 4".
constexpr status check_element(std::string_view name, std::int64_t has, std::int64_t least, std::int64_t most) {
  if (has >= least && has <= most) return {};
  return detail::refuse(status_code::invalid_argument, name, " has ", has, ", must be from ", least, " to ", most);
}
/// "sizes has 3 elements, must have 4".
constexpr status check_count(std::string_view name, std::int64_t has, std::int64_t must) {
  if (has == must) return {};
  return detail::refuse(status_code::invalid_argument, name, " has ", has, " elements, must have ", must);
}
/// "bias has shape [3], must be [5]".
constexpr status check_shape(std::string_view name, const extents& has, const extents& must) {
  if (has == must) return {};
  return detail::refuse(status_code::invalid_argument, name, " has shape ", has, ", must be ", must);
}
/// "Y has elements of float, must be int64".
constexpr status check_type(std::string_view name, dtype has, dtype must) {
  if (has == must) return {};
  return detail::refuse(status_code::invalid_argument, name, " has elements of ", has, ", must be ", must);
}
/// "past_key and past_value go together".
constexpr status check_together(std::string_view a, bool has_a, std::string_view b, bool has_b) {
  if (has_a == has_b) return {};
  return detail::refuse(status_code::invalid_argument, a, " and ", b, " go together");
}
/// "rotary_embedding_dim needs num_heads".
constexpr status check_needs(std::string_view a, bool has_a, std::string_view b, bool has_b) {
  if (!has_a || has_b) return {};
  return detail::refuse(status_code::invalid_argument, a, " needs ", b);
}
/// A shape whose number of elements overflows, or whose rank is above max_rank: "input is too large".
constexpr status check_fits(std::string_view name, bool fits) {
  if (fits) return {};
  return detail::refuse(status_code::invalid_argument, name, " is too large");
}

}  // namespace CAMEO_NAMESPACE
