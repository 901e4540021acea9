#pragma once
#include <cameo/eps/cpu/detail/integer_factor.hpp>

#include "functions/quantized.hpp"
#include "integer_product.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Zero points of a run as int32: what a value holds, or one 0.
result<std::span<const std::int32_t>> read_zeros(run_context&, const value& zero);

/// The same while binding, of a constant or of none (null), for as long as the plan.
result<std::span<const std::int32_t>> keep_zeros(bind_context&, const value* zero);
/// Weights of u8 or s8: their zero points, how many of them a sum has, and whether they are packed once for many runs.
struct weight_form {
  bool is_signed;
  std::span<const std::int32_t> zeros;
  std::int64_t depth;
  bool may_sort;  // its cells, which takes longer than a run gains by it
};
/// How they are multiplied here.
const integer_arithmetic& arithmetic_for(weight_form);

/// A matrix B [k, n] of codes in memory, and its zero points, one or one per column.
struct code_matrix {
  const std::uint8_t* data;
  bool is_signed, turned;  // turned: [n, k]
  std::int64_t k, n;
  std::span<const std::int32_t> zeros;
};
/// B as panels, packed now into scratch memory, which `room` keeps for the next matrix of the run. `rows_differ`: rows
/// of A have zero points of their own.
result<integer_panels> panels_of(run_context&, const code_matrix&, bool rows_differ, std::span<std::byte>& room);
/// Those that were packed while binding.
integer_panels panels_of(const integer_factor&);

/// Whether sums may become codes where they are made: each of these scales is finite.
bool all_finite(std::span<const float> scales);

/// The form of codes of a type for scales [width].
code_form form_of(dtype, std::int64_t zero, const float* scales);

}  // namespace CAMEO_NAMESPACE::eps
