#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// BitCast: the same bits as elements of another type of the same width. A bool whose bits are not 0 becomes 1. The
/// output may be the buffer of the input.
struct bit_cast {
  static result<bit_cast> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
