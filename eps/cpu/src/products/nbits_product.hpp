#pragma once
#include "nbits_weights.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Rows of A in the form that lines read.
struct nbits_rows_of_a {
  const void* data;
  std::int64_t row_bytes;
  const nbits_scale* scales;
};
/// Floats where they lie, or widened, and with zeros after them that fill up the last block.
result<nbits_rows_of_a> few_bit_rows(run_context&, const nbits_matrix& b, const value& a, std::int64_t m);

/// Columns of so many panels as n columns take.
inline std::int64_t width_of_panels(std::int64_t n) {
  const nbits_loops& by = best_nbits_loops();
  return by.panels_of(n) * by.columns;
}
/// The bias as floats, with zeros for the columns that fill up a panel; null: there is none.
result<const float*> padded_bias(run_context&, const value& bias, std::int64_t width);

/// A: `count` rows of k numbers, one after the other; `as_bytes`: rounded to s8 block by block.
struct few_bit_operand {
  const value& rows;
  std::int64_t count;
  bool as_bytes = false;
};
/// y [rows, n] = A * B + bias (width_of_panels(n) elements, or null).
status multiply_few_bits(run_context&, const nbits_matrix& b, const nbits_factor&, const few_bit_operand& a,
                         const float* bias, float* y);

}  // namespace CAMEO_NAMESPACE::eps
