#pragma once
// Conversions between float and smaller types, element by element; narrow_vectors-inl.hpp has those of vectors.
#include <cameo/core/dtype.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>

namespace CAMEO_NAMESPACE::eps::narrow_rows {

// The functions have no branches, so that compilers vectorize loops over them.

inline float widened(float16 half) {
  const std::uint32_t sign = std::uint32_t(half.bits & 0x8000) << 16, magnitude = half.bits & 0x7FFF;
  // Moved to the position of float's exponent, the exponent is 112 too small. A subnormal float16 is a number of steps
  // of 2^-24, and so are the last bits of a float from 2^-14 on: no float here is subnormal, which a thread may flush
  // to 0.
  const std::uint32_t normal = (magnitude << 13) + (112u << 23);
  const float steps = std::bit_cast<float>((magnitude << 13) + (113u << 23)) - 0x1p-14f;
  const std::uint32_t number = magnitude < 0x400 ? std::bit_cast<std::uint32_t>(steps) : normal;
  const std::uint32_t special = magnitude >= 0x7C00 ? 0x7F800000u : 0u;
  const std::uint32_t quiet = magnitude > 0x7C00 ? 0x00400000u : 0u;
  return std::bit_cast<float>(number | special | quiet | sign);
}
inline float widened(bfloat16 brain) { return std::bit_cast<float>(std::uint32_t(brain.bits) << 16); }
inline float widened(std::int8_t code) { return float(code); }
inline float widened(std::uint8_t code) { return float(code); }
inline float widened(float number) { return number; }
inline double widened(double number) { return number; }

/// Rounds to nearest, ties to even. A NaN becomes float16's quiet NaN, with its sign.
inline void narrow_one(float value, float16& to) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  // Adding 0.5 rounds a number that becomes subnormal at the right bit, by the rounding of the processor.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t normal = (magnitude + 0xC8000FFFu + (magnitude >> 13 & 1)) >> 13;
  std::uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x477FF000u ? 0x7C00u : half;
  half = magnitude > 0x7F800000u ? 0x7E00u : half;
  to = float16::from_bits(std::uint16_t(half | sign));
}
inline void narrow_one(float value, bfloat16& to) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40;
  to = bfloat16::from_bits(std::uint16_t((bits & 0x7FFFFFFF) > 0x7F800000u ? nan : rounded));
}

/// The value of each byte of an 8-bit type.
template <class T>
inline constexpr std::array<float, 256> numbers = [] {
  std::array<float, 256> all{};
  for (unsigned i = 0; i < 256; ++i) all[i] = float(T::from_bits(std::uint8_t(i)));
  return all;
}();

}  // namespace CAMEO_NAMESPACE::eps::narrow_rows
