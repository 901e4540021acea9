#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A constant B of 2, 4 or 8 bits, packed as the loops of the instruction set read it. If `codes` is null, each run
/// packs B.
struct nbits_factor {
  const std::byte* codes = nullptr;
  const float* scales = nullptr;
  const std::uint8_t* zeros = nullptr;  // at most one of `zeros` and `float_zeros` is not null
  const float* float_zeros = nullptr;
  const float* book = nullptr;  // a codebook of 16 numbers, which replaces zero points
};

}  // namespace CAMEO_NAMESPACE::eps
