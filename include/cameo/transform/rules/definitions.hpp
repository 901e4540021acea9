#pragma once
#include <cameo/transform/transform.hpp>

namespace cameo::inline CAMEO_ABI {

// For files whose readers run what they have kernels for, and can't look up how ONNX defines the rest: those in ONNX
// Runtime's own format. Answers stay the same but for rounding. Not among standard_transforms: whoever writes such a
// file applies them, at every level.

/// Operators without a kernel in ONNX Runtime, written out as ONNX defines them.
struct definitions {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Operators that have a kernel there for float32 and none for float16: between casts.
struct float16_casts {
  static constexpr optimization_level level = optimization_level::basic;
  CAMEO_API static const transform_table& table();
};

/// Both.
using kernels_only = transform_set<definitions, float16_casts>;

}  // namespace cameo::inline CAMEO_ABI
