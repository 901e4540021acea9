#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace cameo::inline CAMEO_ABI::eps {

/// The least and the largest of some numbers and 0; NaN is neither.
struct float_range {
  float low, high;
};
/// Scale and zero point of uint8 for numbers of such a range, as DynamicQuantizeLinear has them; the scale is 0 where
/// the range is too small for a float, and codes are 0 then.
struct byte_quantization {
  float scale;
  std::uint8_t zero;
};
byte_quantization quantization_of(const float_range&);

}  // namespace cameo::inline CAMEO_ABI::eps
