#pragma once
#include <cameo/interop/text.hpp>

#include <ostream>

namespace CAMEO_NAMESPACE {

/// `std::cerr << session.error()`: prints statuses, codes, types, extents, values, tensors, inputs and outputs as
/// to_string() writes them.
template <detail::printed T>
std::ostream& operator<<(std::ostream& to, const T& printed) {
  return to << cameo::to_string(printed);
}

}  // namespace CAMEO_NAMESPACE
