#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/nbits_weights.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MatMulNBits: Y = A * B + bias, B [K, N] of codes of 2, 4 or 8 bits. An element of B is (code - zero
/// point) * scale, both of its block of column and `block_size` rows; without zero points they are 2^(bits - 1).
///
/// Sums are formed in float, with exact differences of codes and whole zero points, in an order that depends on K and
/// `block_size` alone. With accuracy level 4, a block of a row of A becomes s8 first: the multiples of its largest
/// magnitude / 127 that are nearest, so that an element of A is off by at most 1/254 of that; sums in a block are
/// exact. A row with a number that is not finite is then NaN. Levels 1 to 3 ask for less than float, and get float.
///
/// With `g_idx`, row i of B has the scale and zero point of block g_idx[i]; B then becomes a matrix of floats in each
/// run. Scratch: A as bytes, or as floats with K filled up to whole blocks where it is not; B where it is not constant.
struct matmul_nbits {
  using elements = detail::element_set<float, float16, bfloat16>;
  std::int64_t k, n, bits, block;
  bool as_bytes;
  nbits_factor b = {};

  static result<matmul_nbits> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
