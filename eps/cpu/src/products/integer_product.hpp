#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/kernel/run_context.hpp>

#include "integer_panels.hpp"
#include "integer_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

// Matrix products of quantized values. Sums are exact modulo 2^32, as int32.

/// A [m, k] of uint8 or int8 times B [k, n], packed as panels with one run. A has one zero point; or one per row, if
/// the panels are of int16.
struct integer_product {
  std::int64_t m, k;
  integer_codes a;
  std::int64_t row_stride, column_stride;
  integer_panels b;
  const std::int32_t* start;  // [b.width()], from start_sums()
};

/// The zero point of rows that are multiplied as uint8, to which int8 is shifted by 128.
constexpr std::int32_t zero_as_bytes(bool is_signed, std::int32_t zero) { return is_signed ? zero + 128 : zero; }

/// The sums of rows [row, row + rows) and columns [column, column + columns) of C; sum (i, j) is at sums[i * step + j].
struct integer_block {
  std::int64_t row, column, rows, columns;
  std::int32_t* sums;
  std::int64_t step;
};

/// Calls f, on several threads at a time, for blocks that cover all of C. The sums are valid during the call.
status multiply_to_sums(run_context&, const integer_product&, detail::function_ref<void(const integer_block&)> f);
/// Writes C [m, n] as int32, dense.
status multiply_to_sums(run_context&, const integer_product&, std::int32_t* c);
/// How sums are converted to floats: float(sum) * scale + bias, rounded after each of the two operations. A bias of -0
/// changes no result.
struct float_form {
  const float *scale, *bias;  // [b.width()]
};
/// Writes C [m, n] as floats, dense.
status multiply_to_floats(run_context&, const integer_product&, const float_form&, float* c);
/// Writes C [m, n] quantized, dense; the scales are [b.width()].
status multiply_to_codes(run_context&, const integer_product&, const code_form&, std::uint8_t* c);

}  // namespace CAMEO_NAMESPACE::eps
