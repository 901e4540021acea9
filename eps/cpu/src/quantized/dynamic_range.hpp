#pragma once
#include <cameo/kernel/run_context.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::eps {

/// The minimum and maximum of some numbers and 0, without NaN.
struct float_range {
  float low, high;
};
/// The scale and zero point by which DynamicQuantizeLinear quantizes the numbers of a float_range to uint8. If the
/// range is too small for a scale in float, the scale is 0, and so are the quantized values.
struct byte_quantization {
  float scale;
  std::uint8_t zero;
};
byte_quantization quantization_of(const float_range&);

/// Quantizes x with the scale and zero point of its range, which are returned.
result<byte_quantization> quantize_dynamically(run_context&, const tensor_view<const float>& x, std::uint8_t* codes);

}  // namespace CAMEO_NAMESPACE::eps
