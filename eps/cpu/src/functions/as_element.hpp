#pragma once
#include <cameo/core/abi.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

namespace CAMEO_NAMESPACE::eps {

/// Converts a number to an element. For integers it is truncated, as ONNX Runtime does, and saturated; NaN becomes 0.
template <class T, class C>
T as_element(C v) {
  if constexpr (std::is_integral_v<T>) {
    if (std::isnan(v)) return T(0);
    if (double(v) <= double(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (double(v) >= double(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return T(v);
  } else if constexpr (std::is_floating_point_v<T>) {
    return T(v);
  } else {
    return T(float(v));
  }
}

}  // namespace CAMEO_NAMESPACE::eps
