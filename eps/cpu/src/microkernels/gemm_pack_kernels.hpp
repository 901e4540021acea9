#pragma once
#include <cstdint>

#include <cameo/core/dtype.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The arguments of pack_transposed(): panel[s * width + i] = source[i * stride + s] for i < count (at most `width`)
/// and s < k. T is a floating-point type of any size.
template <class T>
struct transposed_panel {
  const T* source;
  std::int64_t stride, count, k;
  T* panel;
  std::int64_t width;
  const T* ahead = nullptr;  // what is read next, of which count * k elements are prefetched; or null
};
template <class T>
void pack_transposed(const transposed_panel<T>&);

}  // namespace CAMEO_NAMESPACE::eps
