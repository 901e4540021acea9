#pragma once
#include <cameo/core/abi.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace CAMEO_NAMESPACE {

namespace detail {
/// How a float format of at most 16 bits encodes values that are not numbers.
/// The formats are ONNX's: https://onnx.ai/onnx/technical/float8.html, float4.html and the OCP MX specification.
enum class float_specials : std::uint8_t {
  ieee,      // exponent all ones: infinities and NaNs (float16, bfloat16, float8e5m2)
  nan_only,  // all ones is NaN, no infinity (float8e4m3fn)
  fnuz,      // only 0x80 is NaN, no infinity, no negative zero
  none,      // every bit pattern is a number (float4, float6)
};
/// One format: bits of exponent and mantissa, the exponent's bias, and how it encodes what is not a number.
struct float_format {
  int exponent_bits, mantissa_bits, bias;
  float_specials specials;
};

/// Converts `bits` of a format to float, exactly.
constexpr float widen(std::uint16_t bits, detail::float_format f) {
  const int e_bits = f.exponent_bits, m_bits = f.mantissa_bits;
  const std::uint32_t sign = std::uint32_t(bits >> (e_bits + m_bits)) & 1;
  const std::uint32_t exponent = (bits >> m_bits) & ((1u << e_bits) - 1), mantissa = bits & ((1u << m_bits) - 1);
  const std::uint32_t top = (1u << e_bits) - 1, all = (1u << m_bits) - 1;
  constexpr std::uint32_t nan = 0x7FC00000u, inf = 0x7F800000u;
  if (f.specials == detail::float_specials::ieee && exponent == top)
    return std::bit_cast<float>(sign << 31 | (mantissa ? nan | mantissa << (23 - m_bits) : inf));
  if (f.specials == detail::float_specials::nan_only && exponent == top && mantissa == all)
    return std::bit_cast<float>(sign << 31 | nan);
  if (f.specials == detail::float_specials::fnuz && sign && !exponent && !mantissa) return std::bit_cast<float>(nan);
  if (exponent == 0) {  // zero or subnormal: mantissa * 2^(1 - bias - m_bits)
    if (mantissa == 0) return std::bit_cast<float>(sign << 31);
    const int scale = 1 - f.bias - m_bits;
    // The scale of bfloat16's subnormals is itself subnormal in float; both formats then have the same bits.
    if (scale < -126) return std::bit_cast<float>(sign << 31 | mantissa << (23 - m_bits));
    const float magnitude = float(mantissa) * std::bit_cast<float>(std::uint32_t(scale + 127) << 23);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign << 31 | std::uint32_t(int(exponent) - f.bias + 127) << 23 |
                              mantissa << (23 - m_bits));
}

/// The bits of a format's special values, without a sign.
struct float_limits {
  std::uint32_t nan, largest;  // a format without NaN: both are the largest value
  std::uint32_t overflow;      // a value out of range that does not saturate
};
constexpr float_limits limits_of(float_format f) {
  const std::uint32_t ones = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
  const std::uint32_t infinity = ones >> f.mantissa_bits << f.mantissa_bits;
  switch (f.specials) {
    case float_specials::ieee: return {infinity | 1u << (f.mantissa_bits - 1), infinity - 1, infinity};
    case float_specials::nan_only: return {ones, ones - 1, ones};
    case float_specials::fnuz: return {ones + 1, ones, ones + 1};
    case float_specials::none: break;
  }
  return {ones, ones, ones};
}

/// The bits of a format's nearest value, ties to even. A value out of range becomes infinity where the format has one,
/// else, when `saturate`, the largest finite value; else NaN where the format has a NaN.
constexpr std::uint16_t narrow(float value, detail::float_format f, bool saturate = true) {
  const std::uint32_t in = std::bit_cast<std::uint32_t>(value), in_magnitude = in & 0x7FFFFFFF;
  const int e_bits = f.exponent_bits, m_bits = f.mantissa_bits;
  const bool ieee = f.specials == detail::float_specials::ieee;
  const std::uint32_t sign = in >> 31 << (e_bits + m_bits);
  const std::uint32_t signed_zero = f.specials == detail::float_specials::fnuz ? 0 : sign;
  const float_limits limits = limits_of(f);
  if (in_magnitude > 0x7F800000)
    return std::uint16_t(f.specials == detail::float_specials::none ? limits.nan : sign | limits.nan);
  // bfloat16 is a float's upper half: rounding carries into the exponent, and at last to infinity, by itself.
  if (ieee && e_bits == 8 && m_bits == 7) return std::uint16_t((in + 0x7FFF + (in >> 16 & 1)) >> 16);
  // A subnormal float rounds to zero in every other format, so it does not matter that it has no hidden bit.
  int exponent = int(in_magnitude >> 23) - 127 + f.bias;
  std::uint64_t full = (in & 0x7FFFFF) | 0x800000;  // 24 bits: 1.23
  int shift = 23 - m_bits;
  if (exponent < 1) shift += 1 - exponent, exponent = 0;
  if (shift > 40) return std::uint16_t(signed_zero);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1), rest = full & ((std::uint64_t{1} << shift) - 1);
  full >>= shift;
  if (rest > half || (rest == half && (full & 1))) ++full;
  // A normal carries its hidden bit as one step of the exponent, and rounding up may carry into the next exponent.
  const std::uint64_t magnitude = exponent ? (std::uint64_t(exponent - 1) << m_bits) + full : full;
  if (magnitude > limits.largest) {
    // Infinity never saturates in a format that has it, and a format of 16 bits never saturates.
    const bool saturates = saturate && !(ieee && (in_magnitude == 0x7F800000 || e_bits + m_bits == 15));
    return std::uint16_t(sign | (saturates ? limits.largest : limits.overflow));
  }
  return std::uint16_t(magnitude ? sign | std::uint32_t(magnitude) : signed_zero);
}

/// A number of a narrow format, stored as its bits. Converts from and to float; arithmetic is done in float.
template <detail::float_format Format>
struct narrow_float {
  using storage = std::conditional_t<(Format.exponent_bits + Format.mantissa_bits > 7), std::uint16_t, std::uint8_t>;
  static constexpr detail::float_format format = Format;
  storage bits = 0;

  narrow_float() = default;
  constexpr explicit narrow_float(float value, bool saturate = Format.exponent_bits + Format.mantissa_bits <= 7)
      : bits{storage(narrow(value, Format, saturate))} {}
  /// The number with these bits.
  static constexpr narrow_float from_bits(storage bits) {
    narrow_float made;
    made.bits = bits;
    return made;
  }
  constexpr explicit operator float() const { return widen(bits, Format); }
  constexpr bool operator==(const narrow_float&) const = default;
};
}  // namespace detail

/// The element types of ONNX with 8 or 16 bits, under ONNX's names.
using float16 = detail::narrow_float<detail::float_format{5, 10, 15, detail::float_specials::ieee}>;
using bfloat16 = detail::narrow_float<detail::float_format{8, 7, 127, detail::float_specials::ieee}>;
using float8e4m3fn = detail::narrow_float<detail::float_format{4, 3, 7, detail::float_specials::nan_only}>;
using float8e4m3fnuz = detail::narrow_float<detail::float_format{4, 3, 8, detail::float_specials::fnuz}>;
using float8e5m2 = detail::narrow_float<detail::float_format{5, 2, 15, detail::float_specials::ieee}>;
using float8e5m2fnuz = detail::narrow_float<detail::float_format{5, 2, 16, detail::float_specials::fnuz}>;

/// A power of two, 2^(bits - 127); 255 is NaN. The format has no sign and no zero.
struct float8e8m0 {
  std::uint8_t bits = 0;

  float8e8m0() = default;
  /// Rounds to the nearest power of two (in the exponent; ties go up). Values that are too large saturate; infinity
  /// becomes NaN.
  constexpr explicit float8e8m0(float value) {
    const std::uint32_t in = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent = in >> 23 & 0xFF;
    const bool up = exponent < 254 && (in & 0x400000) && (exponent > 0 || (in & 0x3FFFFF));
    bits = std::uint8_t(exponent == 0xFF ? 0xFF : exponent + (up ? 1 : 0));
  }
  constexpr explicit operator float() const {
    if (bits == 0xFF) return std::bit_cast<float>(0x7FC00000u);
    return bits == 0 ? std::bit_cast<float>(0x00400000u) : std::bit_cast<float>(std::uint32_t(bits) << 23);
  }
  constexpr bool operator==(const float8e8m0&) const = default;
};

namespace detail {
/// Formats of less than a byte, whose elements are stored packed (core/dtype.hpp).
inline constexpr float_format float4e2m1_format{2, 1, 1, float_specials::none};
inline constexpr float_format float6e2m3_format{2, 3, 1, float_specials::none};
inline constexpr float_format float6e3m2_format{3, 2, 3, float_specials::none};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
