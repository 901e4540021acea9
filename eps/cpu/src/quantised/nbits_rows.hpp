#pragma once
#include "cells/nbits_cells.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// A block of a row as s8 for weights of `bits` bits, in their cells' order: the multiples of its largest magnitude /
/// 127 that are nearest, ties to even. `there` numbers exist, the others are 0. The scale is NaN where a number is not
/// finite, and 0 where all are too small for a scale.
nbits_scale quantise_block(const float* x, std::int64_t there, std::int64_t block, std::int64_t bits, std::int8_t* to);

}  // namespace cameo::inline CAMEO_ABI::eps
