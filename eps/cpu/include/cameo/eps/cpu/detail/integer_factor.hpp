#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

struct integer_arithmetic;

/// The matrix B of a product of quantized values. It is packed at binding if it is a constant matrix with constant zero
/// points and A has one zero point for all rows.
struct integer_factor {
  const integer_arithmetic* arithmetic = nullptr;
  const std::byte* data = nullptr;  // null: packed in every run
  std::int64_t k = 0, n = 0;

  static result<integer_factor> bind(bind_context&, std::size_t input, std::size_t zero_input,
                                     std::size_t row_zero_input, bool transposed = false);
};

}  // namespace CAMEO_NAMESPACE::eps
