#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Det: determinants of the matrices in the last two axes, by elimination in double. An empty matrix has determinant 1.
/// Scratch: one matrix per thread.
struct det {
  using elements = float_elements;
  static result<det> bind(bind_context&) { return det{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
