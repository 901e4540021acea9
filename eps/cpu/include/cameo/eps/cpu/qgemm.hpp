#pragma once
#include <cameo/eps/cpu/detail/integer_factor.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ONNX Runtime's Gemm of codes of 8 bits: Y = alpha * (A - a_zero) * a_scale * (B - b_zero) * b_scale + C, either of
/// both matrices transposed. B's scale and zero point may be one per column. C is int32 in steps of the product's scale
/// and broadcasts to Y. Sums are exact in int32 and wrap; with y_scale Y is rounded to codes, without it Y is float.
struct qgemm {
  bool turn_a = false, turn_b = false;
  float alpha = 1;
  integer_factor packed = {};  // B, where it is constant
  static result<qgemm> bind(bind_context& c) {
    qgemm made{c.int_or("transA", 0) != 0, c.int_or("transB", 0) != 0, c.float_or("alpha", 1)};
    const result<integer_factor> b = integer_factor::bind(c, 3, 5, 2, made.turn_b);
    if (!b) return b.error();
    made.packed = *b;
    return made;
  }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
