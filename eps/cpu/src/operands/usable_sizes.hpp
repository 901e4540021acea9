#pragma once
#include "refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A tensor without elements may have any sizes beside its 0, and products of those would overflow. INVALID_ARGUMENT
/// for such; afterwards products of some axes of one input need no check.
inline status usable_sizes(std::string_view name, const extents& shape) {
  std::int64_t product = 1;
  for (std::int64_t size : shape)
    if (size > 0 && !checked_multiply(product, size, product))
      return bad_input(name, " ", shape, " has no elements, but sizes that are too large for any other tensor");
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
