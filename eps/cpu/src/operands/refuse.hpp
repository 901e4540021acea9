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

/// Makes an error one of the model, for what is found when a kernel is bound: INVALID_GRAPH.
inline status of_model(const status& s) { return s ? status{} : status{status_code::invalid_graph, s.words()}; }
/// The first error of several checks, of which none relies on another.
inline status check_all(std::initializer_list<status> checks) {
  for (const status& s : checks)
    if (!s) return s;
  return {};
}

// Checks like those of kernel/check_values.hpp.

/// "num_heads is 5, must be a multiple of kv_num_heads, 2". Nothing is a multiple of 0.
constexpr status check_multiple(std::string_view name, std::int64_t has, std::int64_t of,
                                std::string_view of_name = {}) {
  if (of > 0 && has % of == 0) return {};
  return refuse(status_code::invalid_argument, name, " is ", has, ", must be a multiple of ", of_name,
                of_name.empty() ? "" : ", ", of);
}
/// check_type() of what a subgraph returned, which may be no tensor.
inline status check_tensor(std::string_view name, const value& v, dtype must) {
  return check_type(name, v.kind == value_kind::tensor ? v.type : dtype::undefined, must);
}
/// check_shape() of an input that the node may lack.
inline status check_input(std::string_view name, const value& v, const extents& must) {
  return v ? check_shape(name, v.shape, must) : status{};
}
/// "rho has 2 elements, must have 3 or more".
constexpr status check_least_count(std::string_view name, std::int64_t has, std::int64_t least) {
  if (has >= least) return {};
  return refuse(status_code::invalid_argument, name, " has ", has, " elements, must have ", least, " or more");
}
/// "it needs cats_int64s or cats_strings", of attributes.
constexpr status check_given(std::string_view what, bool given) {
  if (given) return {};
  return refuse(status_code::invalid_graph, "it needs ", what);
}
/// "A has shape [2], must have rank 2".
inline status check_rank(std::string_view name, const extents& has, std::size_t least, std::size_t most) {
  if (has.rank() >= least && has.rank() <= most) return {};
  return bad_input(name, " has shape ", has, ", must have rank ", most < max_rank ? most : least,
                   least == most     ? ""
                   : most < max_rank ? " or less"
                                     : " or more");
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
