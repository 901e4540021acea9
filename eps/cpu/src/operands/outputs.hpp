#pragma once
#include <cameo/kernel/bind_context.hpp>
#include <cameo/kernel/run_context.hpp>

#include "refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Checks that output 0 has the type that an attribute selects, else INVALID_GRAPH. The plan, which determines the
/// memory of the output, may come from a file, and so may contradict the attribute.
inline status check_output_type(const bind_context& c, dtype filled) {
  if (!c.has_output(0) || c.outputs[0].type == filled) return {};
  return of_model(check_type("output 0", c.outputs[0].type, filled));
}

/// Makes output `i` and returns its elements; null if the node does not have it.
template <class T>
[[gnu::noinline]] result<T*> optional_output(run_context& c, std::size_t i, const extents& shape) {
  if (!c.has_output(i)) return static_cast<T*>(nullptr);
  return c.output<T>(i, shape).transform([](const tensor_view<T>& made) { return made.data(); });
}

}  // namespace CAMEO_NAMESPACE::eps
