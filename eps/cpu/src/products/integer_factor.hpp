#pragma once
#include <cameo/eps/cpu/detail/integer_factor.hpp>

#include "functions/quantized.hpp"
#include "integer_product.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Reads zero points as int32 into scratch memory of the run; a single 0 if `zero` is absent.
result<std::span<const std::int32_t>> read_zeros(run_context&, const value& zero);

/// Reads constant zero points while binding, into memory that lives as long as the plan; a single 0 if `zero` is null.
result<std::span<const std::int32_t>> keep_zeros(bind_context&, const value* zero);
/// Describes weights of uint8 or int8: their zero points, the number of weights in a sum (depth), and whether they are
/// packed once for many runs.
struct weight_form {
  bool is_signed;
  std::span<const std::int32_t> zeros;
  std::int64_t depth;
  bool may_sort;  // sort dot-product groups by kind (see cell_kind), which takes longer than a single run gains by it
};
/// Chooses the arithmetic for such weights on this processor.
const integer_arithmetic& arithmetic_for(weight_form);

/// A quantized matrix B [k, n] in memory, and its zero points: one, or one per column.
struct code_matrix {
  const std::uint8_t* data;
  bool is_signed, transposed;  // `transposed`: the matrix is stored as [n, k]
  std::int64_t k, n;
  std::span<const std::int32_t> zeros;
};
/// Packs B as panels in scratch memory. `room` is that memory, which the next matrix of the run reuses. `rows_differ`:
/// each row of A has a separate zero point.
result<integer_panels> panels_of(run_context&, const code_matrix&, bool rows_differ, std::span<std::byte>& room);
/// The panels that were packed while binding.
integer_panels panels_of(const integer_factor&);

/// True if all scales are finite, so that the micro-kernel can quantize sums itself.
bool all_finite(std::span<const float> scales);

/// How sums are quantized to a type with scales [width of the panels].
code_form form_of(dtype, std::int64_t zero, const float* scales);

}  // namespace CAMEO_NAMESPACE::eps
