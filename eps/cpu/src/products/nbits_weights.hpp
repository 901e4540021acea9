#pragma once
#include <cameo/eps/cpu/detail/nbits_weights.hpp>

#include "microkernels/nbits_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The sizes of a B [k, n] with weights of `bits` bits, of which `block` consecutive ones in a column share a scale; or
/// of `count` such matrices, one after the other.
struct nbits_matrix {
  std::int64_t k, n, bits, block;
  std::int64_t count = 1;

  std::int64_t blocks() const { return (k + block - 1) / block; }
  std::int64_t depth() const { return blocks() * block; }      // rows, with those that fill the last block
  std::int64_t groups() const { return depth() * bits / 32; }  // groups of 32 bits in a column
  std::int64_t block_bytes() const { return block * bits / 8; }
  std::int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }  // bytes of the packed zero points of a column
};
/// Checks that MatMulNBits supports these sizes and that they don't overflow; the error is that of an attribute.
status check_matrix(const nbits_matrix&);
/// Checks the number of elements of B, scales, zero points (or none) and bias (or none).
status check_weights(const nbits_matrix&, const value& b, const value& scales, const value& zeros, const value& bias);

/// Packs a constant B as panels of the instruction set in use, in memory that lives as long as the plan. The result's
/// `codes` is null if an input is not constant, or prepacking is off.
result<nbits_factor> pack_weights(bind_context&, const nbits_matrix&);
/// Packs B in a run, in scratch memory.
result<nbits_factor> pack_weights(run_context&, const nbits_matrix&);

/// Dequantizes B to floats, transposed: to [n, k]. `groups`: the block of each row, which the caller has checked; null:
/// row i belongs to block i / m.block.
void dequantize(run_context&, const nbits_matrix&, const value& b, const value& scales, const value& zeros,
                const std::int32_t* groups, float* to);

}  // namespace CAMEO_NAMESPACE::eps
