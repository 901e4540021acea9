#pragma once
#include <cameo/core/value.hpp>

#include <algorithm>
#include <cmath>

namespace CAMEO_NAMESPACE::eps {

/// The numbers of an integer type of at most 32 bits.
struct integer_range {
  std::int64_t low, high;
};
constexpr integer_range range_of(dtype type) {
  const int bits = detail::row_of(type).bits;
  const bool is_signed = (detail::bit_of(type) & (mask_of<std::int8_t, std::int16_t, std::int32_t, int4, int2>)) != 0;
  if (is_signed) return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return {0, (std::int64_t{1} << bits) - 1};
}

/// The quantized value of a byte of a tensor of u8 or s8.
constexpr std::int32_t code_of(dtype type, std::uint8_t byte) {
  return type == dtype::i8 ? std::int32_t(std::int8_t(byte)) : std::int32_t{byte};
}
/// The quantized value i of a tensor of u8 or s8.
inline std::int32_t code_of(const value& v, std::int64_t i) {
  return code_of(v.type, static_cast<const std::uint8_t*>(v.data)[i]);
}
/// The value i of packed values of 2, 4 or 8 bits; the first is in the lowest bits of a byte.
inline std::uint8_t packed_code(const void* from, std::int64_t i, std::int64_t bits) {
  return std::uint8_t(static_cast<const std::uint8_t*>(from)[i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1));
}

/// round(v) + zero, ties to even, saturated to a range. NaN counts as 0; `zero` has at most 32 bits.
template <class F>
std::int64_t saturated_sum(F v, std::int64_t zero, integer_range range) {
  constexpr F far = F(1e12);  // saturates every range, with every zero point
  if (!(v == v)) v = F(0);
  const auto rounded = std::int64_t(std::nearbyint(std::clamp(v, -far, far)));
  return std::clamp(rounded + zero, range.low, range.high);
}

/// The factor that converts an integer sum of products to a quantized value: x, w and y are the scales of the factors
/// and of the result. It is computed in float and in this order, as ONNX Runtime does. ONNX does not define the
/// precision; another precision would give another value if the quotient is next to a tie.
constexpr float scale_of_sums(float x, float w, float y) { return x * w / y; }

}  // namespace CAMEO_NAMESPACE::eps
