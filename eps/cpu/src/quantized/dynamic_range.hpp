#pragma once
#include <cameo/kernel/run_context.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

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

/// Writes the codes of all of x, with the scale and zero point of its own range.
result<byte_quantization> quantize_dynamically(run_context&, const tensor_view<const float>& x, std::uint8_t* codes);

}  // namespace CAMEO_NAMESPACE::eps
