#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

#include <array>

namespace CAMEO_NAMESPACE::eps {

/// The types of codes of 8 bits.
using byte_codes = detail::element_set<std::uint8_t, std::int8_t>;

/// What codes of 8 bits stand for: (code - zero) * scale.
struct linear_code {
  dtype type;
  float scale;
  std::int64_t zero;
};

/// The inputs of a node that say what codes of a tensor stand for, one scale and one zero point (which may be left out)
/// for all of it. What is the same in every run is read once.
struct linear_code_inputs {
  std::uint32_t scale, zero;
  bool is_known;
  linear_code known;

  static linear_code_inputs bind(const bind_context&, dtype type, std::size_t scale, std::size_t zero);
  result<linear_code> read(run_context&, dtype type) const;
};

/// An entry for each byte.
using code_table = std::array<std::uint8_t, 256>;

}  // namespace CAMEO_NAMESPACE::eps
