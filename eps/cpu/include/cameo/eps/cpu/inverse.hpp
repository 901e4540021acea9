#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's Inverse: the inverse of each square matrix along the last two axes, computed in double. A singular
/// matrix gives infinities or NaN.
struct inverse {
  using elements = first_float_elements;
  static result<inverse> bind(bind_context&) { return inverse{}; }
  status run(run_context&) const;
};

/// com.microsoft's CDist: the distance of each row of A [M, N] from each row of B [K, N], as the sum of the squared
/// differences or its root.
struct row_distances {
  using elements = detail::element_set<float, double>;
  bool root = false;
  static bool accepts(const bind_context&);
  static result<row_distances> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
