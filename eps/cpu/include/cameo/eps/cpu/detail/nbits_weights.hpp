#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A constant B of few bits in the form that the instruction set reads; null: packed in the run.
struct nbits_factor {
  const std::byte* codes = nullptr;
  const float* scales = nullptr;
  const std::uint8_t* zeros = nullptr;  // at most one of the two
  const float* float_zeros = nullptr;
  const float* book = nullptr;  // of 16 numbers, instead of zero points
};

}  // namespace CAMEO_NAMESPACE::eps
