#pragma once
#include "microkernels/nbits_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

// Conversions of rows before they are multiplied, and of sums afterwards.

/// Converts int8 to uint8 by adding 128, or uint8 to int8 by subtracting it.
void shift_codes(const std::uint8_t* x, std::int64_t n, std::uint8_t* to);
/// Subtracts the zero point from uint8 or int8; differences have 9 bits.
void widen_codes(const std::uint8_t* x, bool is_signed, std::int32_t zero, std::int64_t n, std::int16_t* to);

/// How sums are quantized: sum * scale is clamped to [low, high] and rounded to the nearest integer, ties to even;
/// `zero` is added, and the lowest byte is stored. `low` and `high` are integers, scales are finite.
struct code_form {
  const float* scale;
  float low, high;
  std::int32_t zero;
};
void sums_to_codes(const std::int32_t* sums, const code_form&, std::int64_t n, std::uint8_t* codes);

/// Quantizes a block of a row to int8, for weights of `bits` bits and in the order of cell_place(): the scale is the
/// largest magnitude / 127, and values are rounded to nearest, ties to even. The block has `there` elements, the others
/// become 0. The scale is NaN if an element is not finite, and 0 if all are too small for a scale.
nbits_scale quantize_block(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to);

}  // namespace CAMEO_NAMESPACE::eps
