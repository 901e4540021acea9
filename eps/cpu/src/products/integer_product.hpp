#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/kernel/run_context.hpp>

#include "integer_panels.hpp"
#include "integer_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

// Matrix products of codes, exact in int32, which wraps.

/// A [m, k] of u8 or s8 times B [k, n] as panels with one run. A's zero points: one, or with shorts one per row.
struct integer_product {
  std::int64_t m, k;
  integer_codes a;
  std::int64_t row_stride, column_stride;
  integer_panels b;
  const std::int32_t* start;  // [b.width()], of start_sums()
};

/// The zero point that rows have when they are multiplied as bytes.
constexpr std::int32_t zero_as_bytes(bool is_signed, std::int32_t zero) { return is_signed ? zero + 128 : zero; }

/// Sums of rows [row, row + rows) and columns [column, column + columns): sums[i * step + j].
struct integer_block {
  std::int64_t row, column, rows, columns;
  std::int32_t* sums;
  std::int64_t step;
};

/// Calls f for blocks that cover all of C, on several threads at a time; sums are in the thread's scratch memory.
status multiply_to_sums(run_context&, const integer_product&, detail::function_ref<void(const integer_block&)> f);
/// Writes C [m, n] as int32, dense.
status multiply_to_sums(run_context&, const integer_product&, std::int32_t* c);
/// How sums become floats: float(sum) * scale + bias, rounded after each of the two. A bias of -0 changes no number.
struct float_form {
  const float *scale, *bias;  // [b.width()]
};
/// Writes C [m, n] as floats, dense.
status multiply_to_floats(run_context&, const integer_product&, const float_form&, float* c);
/// Writes C [m, n] as codes, dense; the scales are [b.width()].
status multiply_to_codes(run_context&, const integer_product&, const code_form&, std::uint8_t* c);

}  // namespace CAMEO_NAMESPACE::eps
