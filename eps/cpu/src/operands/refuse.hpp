#pragma once
#include <cameo/core/refuse.hpp>
#include <cameo/core/value.hpp>
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

/// "A has shape [2], must have rank 2".
inline status check_rank(std::string_view name, const extents& has, std::size_t least, std::size_t most) {
  if (has.rank() >= least && has.rank() <= most) return {};
  return bad_input(name, " has shape ", has, ", must have rank ", most < max_rank ? most : least,
                   least == most     ? ""
                   : most < max_rank ? " or less"
                                     : " or more");
}
/// "bias has shape [3], must broadcast with [2,4]".
constexpr status check_broadcasts(std::string_view name, const extents& has, const extents& other, bool broadcasts) {
  if (broadcasts) return {};
  return refuse(status_code::invalid_argument, name, " has shape ", has, ", must broadcast with ", other);
}
/// check_shape() of an input that the node may lack.
inline status check_input(std::string_view name, const value& v, const extents& must) {
  return v ? check_shape(name, v.shape, must) : status{};
}
/// A parameter of a factor B, of one element or one for each of its columns; it may be absent.
inline status check_per_column(std::string_view name, const value& v, std::int64_t columns) {
  if (!v || v.shape.count() == 1 || v.shape == extents{columns}) return {};
  return bad_input(name, " has shape ", v.shape, ", must be one element or [", columns, "]");
}
/// "block_size is 24, must be a power of two, 16 or more".
constexpr status check_power_of_two(std::string_view name, std::int64_t has, std::int64_t least) {
  if (has >= least && (has & (has - 1)) == 0) return {};
  return refuse(status_code::invalid_graph, name, " is ", has, ", must be a power of two, ", least, " or more");
}

}  // namespace CAMEO_NAMESPACE::eps
