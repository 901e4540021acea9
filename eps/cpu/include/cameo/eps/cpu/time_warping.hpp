#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's DynamicTimeWarping: the positions [2, steps] of the cheapest path through a matrix of costs [M, N]
/// or [1, M, N], from its first element to its last; a step goes down, right or both.
struct time_warping {
  using elements = detail::element_set<float>;
  static result<time_warping> bind(bind_context&) { return time_warping{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
