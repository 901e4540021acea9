#pragma once
#include <cameo/transform/family.hpp>

namespace CAMEO_NAMESPACE {

// Rewrites for files whose readers run only operators with kernels and have no function bodies: files in ONNX Runtime's
// own format. Results stay the same except for rounding. Sessions apply them before they save such a file, at every
// level (transform_phase::before_saving).

namespace rules {
/// Replaces operators that have no kernel in ONNX Runtime by ONNX's function bodies.
struct definitions : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// Adds Casts around nodes whose operators have a kernel in ONNX Runtime for float32 but none for float16.
struct float16_casts : detail::family_at<optimization_level::basic> {
  CAMEO_API static const transform_table& table();
};

/// The rewrites for files whose readers run only operators with kernels.
using kernels_only = transform_set<definitions, float16_casts>;
}  // namespace rules

}  // namespace CAMEO_NAMESPACE
