#pragma once
#include <cameo/transform/family.hpp>

CAMEO_BEGIN_NAMESPACE

// For files whose readers run only operators that they have kernels for, and can't look up ONNX's function bodies:
// those in ONNX Runtime's own format. Results stay the same but for rounding. Sessions apply them before such a file is
// saved, at every level (transform_phase::before_saving).

namespace rules {
/// Replaces operators without a kernel in ONNX Runtime by ONNX's function bodies.
struct definitions {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Puts operators that have a kernel there for float32 and none for float16 between casts.
struct float16_casts {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Both.
using kernels_only = transform_set<definitions, float16_casts>;
}  // namespace rules

CAMEO_END_NAMESPACE
