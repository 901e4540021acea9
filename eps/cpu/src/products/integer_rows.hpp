#pragma once
#include "microkernels/nbits_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

// Rows of codes and numbers before they are multiplied, and of their sums afterwards.

/// s8 as u8 that is 128 larger, and back.
void shift_codes(const std::uint8_t* x, std::int64_t n, std::uint8_t* to);
/// Codes less their zero point, which are numbers of 9 bits.
void widen_codes(const std::uint8_t* x, bool is_signed, std::int32_t zero, std::int64_t n, std::int16_t* to);

/// How sums become codes: the integer nearest to sum * scale, ties to even, within [low, high], plus `zero`, of which
/// the lowest byte is stored. `low` and `high` are integers, scales are finite.
struct code_form {
  const float* scale;
  float low, high;
  std::int32_t zero;
};
void sums_to_codes(const std::int32_t* sums, const code_form&, std::int64_t n, std::uint8_t* codes);

/// A block of a row as s8 for weights of `bits` bits, in their cells' order: the multiples of its largest magnitude /
/// 127 that are nearest, ties to even. `there` numbers exist, the others are 0. The scale is NaN where a number is not
/// finite, and 0 where all are too small for a scale.
nbits_scale quantize_block(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to);

}  // namespace CAMEO_NAMESPACE::eps
