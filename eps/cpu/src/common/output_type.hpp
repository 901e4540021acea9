#pragma once
#include <cameo/kernel/bind_context.hpp>

#include "refuse.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// For kernels that fill their output with elements of a type that an attribute names: the plan, which gives the output
/// its memory and may come from a file as it is, has to say the same. INVALID_GRAPH.
inline status check_output_type(const bind_context& c, dtype filled) {
  if (!c.has_output(0) || c.outputs[0].type == filled) return {};
  return bad_attribute("its output has elements of ", filled, ", the model says ", c.outputs[0].type);
}

}  // namespace cameo::inline CAMEO_ABI::eps
