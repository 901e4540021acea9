#pragma once
#include <cameo/kernel/bind_context.hpp>
#include <cameo/kernel/run_context.hpp>

#include "refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// For kernels that fill their output with elements of a type that an attribute names: the plan, which gives the output
/// its memory and may come from a file as it is, has to say the same. INVALID_GRAPH.
inline status check_output_type(const bind_context& c, dtype filled) {
  if (!c.has_output(0) || c.outputs[0].type == filled) return {};
  return bad_attribute("its output has elements of ", filled, ", the model says ", c.outputs[0].type);
}

/// The elements of an output; null for one that the node does not have.
template <class T>
[[gnu::noinline]] result<T*> optional_output(run_context& c, std::size_t i, const extents& shape) {
  if (!c.has_output(i)) return static_cast<T*>(nullptr);
  return c.output<T>(i, shape).transform([](const tensor_view<T>& made) { return made.data(); });
}

}  // namespace CAMEO_NAMESPACE::eps
