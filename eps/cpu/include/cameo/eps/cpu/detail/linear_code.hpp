#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

#include <array>

namespace CAMEO_NAMESPACE::eps {

/// The types of 8-bit quantized values.
using byte_codes = detail::element_set<std::uint8_t, std::int8_t>;

/// The meaning of 8-bit quantized values: (value - zero) * scale.
struct linear_code {
  dtype type;
  float scale;
  std::int64_t zero;
};

/// The inputs of a node that contain the scale and the zero point (which may be absent) of a tensor, one number each.
/// Inputs that are constant are read once, at binding.
struct linear_code_inputs {
  std::uint32_t scale, zero;
  bool is_known;
  linear_code known;

  static linear_code_inputs bind(const bind_context&, dtype type, std::size_t scale, std::size_t zero);
  result<linear_code> read(run_context&, dtype type) const;
};

/// A table with an entry for each byte.
using code_table = std::array<std::uint8_t, 256>;

}  // namespace CAMEO_NAMESPACE::eps
