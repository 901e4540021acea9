#include <cameo/eps/cpu/detail/narrow_rows.hpp>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

// Both without branches, so that compilers make vectors of them.

float widen_one(float16 half) {
  const std::uint32_t sign = std::uint32_t(half.bits & 0x8000) << 16, magnitude = half.bits & 0x7FFF;
  // Put into float's place, the exponent is 112 too small; a product sets that right, for subnormals too.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t special = magnitude >= 0x7C00 ? 0x7F800000u : 0u;
  const std::uint32_t quiet = magnitude > 0x7C00 ? 0x00400000u : 0u;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | quiet | sign);
}

float16 narrow_one(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  // A sum with 0.5 rounds what becomes subnormal at the right bit, by the processor's own rounding.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t normal = (magnitude + 0xC8000FFFu + (magnitude >> 13 & 1)) >> 13;
  std::uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
  half = magnitude >= 0x477FF000u ? 0x7C00u : half;
  half = magnitude > 0x7F800000u ? 0x7E00u : half;
  return float16::from_bits(std::uint16_t(half | sign));
}

bfloat16 narrow_to_brain(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40;
  return bfloat16::from_bits(std::uint16_t((bits & 0x7FFFFFFF) > 0x7F800000u ? nan : rounded));
}

template <class T>
void widen_slowly(const T* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = float(from[i]);
}

}  // namespace

void widen_row(const float16* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = widen_one(from[i]);
}
void widen_row(const bfloat16* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(std::uint32_t(from[i].bits) << 16);
}
void widen_row(const float8e4m3fn* from, float* to, std::int64_t count) { widen_slowly(from, to, count); }
void widen_row(const float8e4m3fnuz* from, float* to, std::int64_t count) { widen_slowly(from, to, count); }
void widen_row(const float8e5m2* from, float* to, std::int64_t count) { widen_slowly(from, to, count); }
void widen_row(const float8e5m2fnuz* from, float* to, std::int64_t count) { widen_slowly(from, to, count); }

void narrow_row(const float* from, float16* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = narrow_one(from[i]);
}
void narrow_row(const float* from, bfloat16* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = narrow_to_brain(from[i]);
}

}  // namespace cameo::inline CAMEO_ABI::eps
