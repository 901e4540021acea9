#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The same bits as elements of another type of the same width; a bool of any bits but 0 is 1. The output may be the
/// input.
struct bit_cast {
  static result<bit_cast> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
