#pragma once
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// y[i] = min(max(x[i], low), high): where low > high, high. NaN passes. Before opset 11 the bounds are attributes,
/// then optional scalar inputs. y has the shape of x and may be x. Allocates nothing.
struct clip {
  using row_function = void (*)(const void* low, const void* high, const void* x, void* y, std::int64_t n);
  row_function row = nullptr;
  std::int64_t bytes = 0;      // of an element
  bool by_attributes = false;  // then these are the bounds, as elements of the type
  std::uint64_t low = 0, high = 0;

  static result<clip> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
