#pragma once
// Narrow floats one by one: halves-inl.hpp has them in vectors.
#include <cameo/core/dtype.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>

namespace CAMEO_NAMESPACE::eps::narrow_rows {

// Without branches, so that compilers make vectors of them.

inline float widened(float16 half) {
  const std::uint32_t sign = std::uint32_t(half.bits & 0x8000) << 16, magnitude = half.bits & 0x7FFF;
  // Put into float's place, the exponent is 112 too small. A subnormal half counts steps of 2^-24, as the last bits of
  // a float from 2^-14 on do: nothing here is subnormal in float, which a thread may take for zero.
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

/// A NaN becomes the one NaN of float16, with its sign.
inline void narrow_one(float value, float16& to) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  // A sum with 0.5 rounds what becomes subnormal at the right bit, by the processor's own rounding.
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

/// Every number of a type of one byte.
template <class T>
inline constexpr std::array<float, 256> numbers = [] {
  std::array<float, 256> all{};
  for (unsigned i = 0; i < 256; ++i) all[i] = float(T::from_bits(std::uint8_t(i)));
  return all;
}();

}  // namespace CAMEO_NAMESPACE::eps::narrow_rows
