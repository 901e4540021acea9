#pragma once
#include <cameo/interop/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

/// `fmt::print("{:>20}", tensor.shape())`: prints statuses, codes, types, extents, values, tensors, inputs and outputs
/// as to_string() writes them, with the format of a string. Needs the program's own fmt.
template <cameo::detail::printed T>
struct fmt::formatter<T> : fmt::formatter<std::string_view> {
  /// Writes the text; called by fmt.
  template <class Context>
  auto format(const T& printed, Context& to) const {
    return fmt::formatter<std::string_view>::format(cameo::to_string(printed), to);
  }
};
// Without these, fmt would print extents and tensors as ranges, with each element of a tensor.
template <>
struct fmt::is_range<cameo::extents, char> : std::false_type {};
template <class T>
struct fmt::is_range<cameo::tensor_view<T>, char> : std::false_type {};
