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

}  // namespace CAMEO_NAMESPACE::eps
