#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/linear_code.hpp>

#include "functions/quantized.hpp"

namespace CAMEO_NAMESPACE::eps {

inline const std::uint8_t* codes(const value& v) { return static_cast<const std::uint8_t*>(v.data); }
inline std::uint8_t* codes(value& v) { return static_cast<std::uint8_t*>(v.data); }

/// Calls f(std::type_identity<T>) with T int8 or uint8.
template <class F>
decltype(auto) with_codes(dtype type, F&& f) {
  return type == dtype::i8 ? f(std::type_identity<std::int8_t>{}) : f(std::type_identity<std::uint8_t>{});
}

/// Quantizes n floats.
void write_codes(const linear_code& to, const float* v, std::uint8_t* y, std::int64_t n);
/// The table that maps each quantized byte: it is dequantized, passed through f (if given), and quantized again.
code_table table_of(const linear_code& from, const linear_code& to, const activation& f = {});
/// The least number of values that pays for another thread.
inline constexpr std::int64_t codes_at_once = 1 << 15;

}  // namespace CAMEO_NAMESPACE::eps
