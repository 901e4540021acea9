#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// y[i] = min(max(x[i], low), high): where low > high, high. NaN stays NaN. Before opset 11 the bounds are attributes,
/// then optional scalar inputs;
/// an absent one is the last number of the type, so that infinities become it. y has the shape of x and may be
/// x. Allocates nothing.
struct clip {
  using elements = number_elements;
  using row_function = void (*)(const void* low, const void* high, const void* x, void* y, std::int64_t n);
  row_function row = nullptr;
  std::int64_t bytes = 0;  // of an element
  bool by_attributes = false, has_low = false, has_high = false;
  std::uint64_t low = 0, high = 0;  // the attributes, as elements of the type

  static result<clip> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
