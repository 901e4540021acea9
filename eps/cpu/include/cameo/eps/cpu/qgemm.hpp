#pragma once
#include <cameo/eps/cpu/detail/integer_factor.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's QGemm, Gemm of 8-bit quantized matrices: Y = alpha * (A - a_zero) * a_scale * (B - b_zero) * b_scale
/// + C; either matrix may be transposed. B's scale and zero point may be one per column. C is int32, in units of the
/// product's scale, and broadcasts to Y. Sums are exact in int32 and wrap around. With y_scale Y is quantized, without
/// it Y is float.
struct qgemm {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;
  integer_factor packed = {};  // B, if it is constant
  static result<qgemm> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
