#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/nbits_weights.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MatMulNBits: Y = A * B + bias, where B [K, N] is quantized to 2, 4 or 8 bits. An element of B is
/// (quantized value - zero point) * scale; a block of `block_size` rows of a column has one scale and zero point. The
/// default of zero points is 2^(bits - 1).
///
/// Sums are float, with exact differences of quantized values and integer zero points, in an order that depends on K
/// and `block_size` alone. With accuracy level 4, a block of a row of A is first rounded to int8: to the nearest
/// multiples of its largest magnitude / 127, so that the error of an element of A is at most 1/254 of that magnitude;
/// sums in a block are exact. A row with a number that is not finite is then NaN. Levels 1 to 3 require less than float
/// and are computed in float.
///
/// With `g_idx`, row i of B has the scale and zero point of block g_idx[i]; B is then converted to float in each run.
/// Scratch: A as bytes, or as floats with K rounded up to whole blocks if it is not; B unless it is constant.
struct matmul_nbits {
  using elements = detail::element_set<float, float16, bfloat16>;
  std::int64_t k, n, bits, block;
  bool as_bytes;
  nbits_factor b = {};

  static result<matmul_nbits> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
