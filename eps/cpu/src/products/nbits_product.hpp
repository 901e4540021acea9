#pragma once
#include "nbits_weights.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Rows of A as nbits_line reads them: floats, or int8 with `scales` for each block (else null).
struct nbits_rows_of_a {
  const void* data;
  std::int64_t row_bytes;
  const nbits_scale* scales;
};
/// Rows of A as floats: in place if possible, else widened in scratch memory, with zeros that fill up the last block.
result<nbits_rows_of_a> few_bit_rows(run_context&, const nbits_matrix& b, const value& a, std::int64_t m);

/// `n` rounded up to whole panels.
inline std::int64_t width_of_panels(std::int64_t n) {
  const nbits_loops& by = best_nbits_loops();
  return by.panels_of(n) * by.columns;
}
/// The bias as floats, in scratch memory, with zeros for the columns that fill up a panel; null if there is no bias.
result<const float*> padded_bias(run_context&, const value& bias, std::int64_t width);

/// The operand A: `count` dense rows of k elements. `as_bytes`: they are quantized to int8, block by block, before they
/// are multiplied.
struct few_bit_operand {
  const value& rows;
  std::int64_t count;
  bool as_bytes = false;
};
/// Computes y [a.count, n] = A * B + bias. `bias` has width_of_panels(n) elements, or is null.
status multiply_few_bits(run_context&, const nbits_matrix& b, const nbits_factor&, const few_bit_operand& a,
                         const float* bias, float* y);

}  // namespace CAMEO_NAMESPACE::eps
