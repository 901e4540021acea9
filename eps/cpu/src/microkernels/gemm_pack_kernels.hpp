#pragma once
#include <cstdint>

#include <cameo/core/dtype.hpp>

namespace CAMEO_NAMESPACE::eps {

/// to[k * width + i] = from[i * stride + k], for i < count (at most `width`) and steps below k. T is a float
/// of any size.
template <class T>
struct transposed_panel {
  const T* from;
  std::int64_t stride, count, k;
  T* to;
  std::int64_t width;
  const T* ahead = nullptr;  // if there is: what is read next, of which as many elements as here are asked for
};
template <class T>
void pack_transposed(const transposed_panel<T>&);

}  // namespace CAMEO_NAMESPACE::eps
