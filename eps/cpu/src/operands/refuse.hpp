#pragma once
#include <cameo/core/refuse.hpp>
#include <cameo/kernel/check_values.hpp>

#include <algorithm>  // for the kernels, which all include this

namespace CAMEO_NAMESPACE::eps {

using detail::message_part, detail::refuse;

/// An error in the data of a run. The runner adds the name of the node.
template <class... Parts>
[[gnu::always_inline]] inline status bad_input(const Parts&... parts) {
  return refuse(status_code::invalid_argument, parts...);
}
/// An error in an attribute.
template <class... Parts>
[[gnu::always_inline]] inline status bad_attribute(const Parts&... parts) {
  return refuse(status_code::invalid_graph, parts...);
}

// More checks like those of check_values.hpp.

/// What a check says about attributes: INVALID_GRAPH, in the same words.
constexpr status in_attributes(status checked) {
  return checked ? checked : status{status_code::invalid_graph, checked.words()};
}
/// "it needs cats_int64s or cats_strings", of attributes.
constexpr status check_given(std::string_view what, bool given) {
  if (given) return {};
  return refuse(status_code::invalid_graph, "it needs ", what);
}
/// "rho has 2 elements, must have 3 or more".
constexpr status check_least_count(std::string_view name, std::int64_t has, std::int64_t least) {
  if (has >= least) return {};
  return refuse(status_code::invalid_argument, name, " has ", has, " elements, must have ", least, " or more");
}
/// "bias has shape [3], must broadcast with [2,4]".
constexpr status check_broadcasts(std::string_view name, const extents& has, const extents& other, bool broadcasts) {
  if (broadcasts) return {};
  return refuse(status_code::invalid_argument, name, " has shape ", has, ", must broadcast with ", other);
}
/// "coefficients has 5 elements, must have a multiple of 2".
constexpr status check_multiple(std::string_view name, std::int64_t has, std::int64_t of) {
  if (of > 0 && has % of == 0) return {};
  return refuse(status_code::invalid_argument, name, " has ", has, " elements, must have a multiple of ", of);
}

}  // namespace CAMEO_NAMESPACE::eps
