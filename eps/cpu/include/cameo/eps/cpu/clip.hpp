#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Clip: y[i] = min(max(x[i], low), high); if low > high, every element becomes high. NaN stays NaN. The bounds are
/// attributes before opset 11, and optional scalar inputs since. A missing bound is the lowest or highest finite number
/// of the type, which infinities become. y has the shape of x and may be the buffer of x. Allocates nothing.
struct clip {
  using elements = number_elements;
  using row_function = void (*)(const void* low, const void* high, const void* x, void* y, std::int64_t n);
  row_function row = nullptr;
  std::int64_t bytes = 0;  // the size of an element
  bool has_low = false, has_high = false;
  std::uint64_t low = 0, high = 0;  // the attributes, stored as elements of the type

  static result<clip> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
