#pragma once
#include <cameo/eps/cpu/detail/nbits_weights.hpp>

#include "microkernels/nbits_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// B [k, n] of codes of few bits, or `count` of such matrices, one after the other.
struct nbits_matrix {
  std::int64_t k, n, bits, block;
  std::int64_t count = 1;

  std::int64_t blocks() const { return (k + block - 1) / block; }
  std::int64_t depth() const { return blocks() * block; }      // rows with those that fill up
  std::int64_t groups() const { return depth() * bits / 32; }  // of 32 bits, in a column
  std::int64_t block_bytes() const { return block * bits / 8; }
  std::int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }  // of the packed zero points of a column
};
/// Whether sizes are those of a matrix of few bits whose bytes can be counted.
status check_matrix(const nbits_matrix&);
/// Whether B, scales, zero points (or none) and bias (or none) have as many elements as they must.
status check_weights(const nbits_matrix&, const value& b, const value& scales, const value& zeros, const value& bias);

/// B as panels of the instruction set in use: what is constant is packed while binding, for as long as the plan. Null
/// codes: something is not constant, or no copies are wanted.
result<nbits_factor> pack_weights(bind_context&, const nbits_matrix&);
/// The same in a run, in scratch memory.
result<nbits_factor> pack_weights(run_context&, const nbits_matrix&);

/// B as floats, each column's rows one after the other: to [n, k]. `groups`: the block of each row, all in range; null:
/// as they lie.
void dequantize(run_context&, const nbits_matrix&, const value& b, const value& scales, const value& zeros,
                const std::int32_t* groups, float* to);

}  // namespace CAMEO_NAMESPACE::eps
