#pragma once
#include <cameo/kernel/run_context.hpp>

#include "refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Checks that the product of all sizes but those that are 0 does not overflow, else INVALID_ARGUMENT: a tensor without
/// elements may have any other sizes. Afterwards, products of some axes of the tensor need no check.
inline status usable_sizes(std::string_view name, const extents& shape) {
  std::int64_t product = 1;
  bool fits = true;
  for (std::int64_t size : shape)
    if (size > 0) fits = fits && checked_multiply(product, size, product);
  return check_fits(name, fits);
}

/// usable_sizes() of these inputs of a run, as far as they are given.
inline status usable_inputs(const run_context& c, std::initializer_list<std::size_t> inputs) {
  for (const std::size_t i : inputs)
    if (const value& v = c.input(i))
      if (status s = usable_sizes("an input", v.shape); !s) return s;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
