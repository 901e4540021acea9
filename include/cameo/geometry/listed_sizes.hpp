#pragma once
#include <cameo/core/result.hpp>
#include <cameo/geometry/sizes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// The shape that a list of numbers describes, whose name is `what`; refused if a number is negative, or if there are
/// more than max_rank.
template <size_kind D>
constexpr result<sizes<D>> sizes_in(std::span<const std::int64_t> numbers, std::string_view what);

template <size_kind D>
constexpr result<sizes<D>> sizes_in(std::span<const std::int64_t> numbers, std::string_view what) {
  if (status s = check_rank<D>(numbers.size()); !s) return s;
  sizes<D> made;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) return wrong<D>(what, " has ", numbers[i], " at ", i, ", must be 0 or more");
    made.push_back(fixed<D>(numbers[i]));
  }
  return made;
}

// Compiled in geometry/listed_sizes.cpp, once for loading and once for running.
extern template result<sizes<dim>> sizes_in(std::span<const std::int64_t>, std::string_view);
extern template result<sizes<std::int64_t>> sizes_in(std::span<const std::int64_t>, std::string_view);

}  // namespace CAMEO_NAMESPACE::geometry
