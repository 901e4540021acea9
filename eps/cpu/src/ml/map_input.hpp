#pragma once
#include <cameo/kernel/run_context.hpp>

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Checks that X is a map with keys of this type; INVALID_ARGUMENT otherwise.
inline status check_map(const value& x, dtype keys) {
  if (x.kind != value_kind::map || x.parts.size() != 2) return bad_input("X is not a map");
  return check_type("X", x.parts[0].type, keys);
}

}  // namespace CAMEO_NAMESPACE::eps
