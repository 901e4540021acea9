#pragma once
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// Determinants of the matrices that the last two axes are, by elimination in double. That of an empty one is 1.
/// Scratch: one matrix per thread.
struct det {
  static result<det> bind(bind_context&) { return det{}; }
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
