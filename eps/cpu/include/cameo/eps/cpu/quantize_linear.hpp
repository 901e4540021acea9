#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that QuantizeLinear and DequantizeLinear share: how scale and zero point broadcast over x. There is one
/// of each for the whole tensor, one per index of `axis`, or (block_size > 0) one per block of `block` elements of
/// `axis`.
struct linear_quantization {
  /// Quantized types, and floats of 16 bits and more; ONNX's own operators also take floats of 8 bits and fewer.
  using elements = detail::element_set<float, float16, bfloat16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                       std::int32_t, uint4, int4, uint2, int2>;
  std::int64_t axis = 1, block = 0;
  bool saturate = true;                // to float8
  dtype precision = dtype::undefined;  // the type of x / scale; undefined: the scale's type
  // Scales and zero points as floats, if they are the same in every run; zero points of int32 are not exact.
  std::span<const float> scales = {}, zeros = {};

  static result<linear_quantization> read(bind_context&);
};

/// QuantizeLinear: y = round(x / scale) + zero_point, ties to even, saturated to y's type; NaN counts as 0. For floats
/// of 8 bits and fewer, y is x / scale + zero_point, rounded to nearest.
struct quantize_linear : linear_quantization {
  static result<quantize_linear> bind(bind_context&);
  status run(run_context&) const;
};

/// DequantizeLinear: y = (x - zero_point) * scale, rounded to y's type once; the difference of integers is exact.
struct dequantize_linear : linear_quantization {
  static result<dequantize_linear> bind(bind_context&);
  status run(run_context&) const;
};

/// DynamicQuantizeLinear: quantizes a tensor of floats to uint8, with the scale and zero point of its range extended to
/// include 0. For an empty tensor, or one of zeros, both are 0 and y is all zeros.
struct dynamic_quantize_linear {
  static result<dynamic_quantize_linear> bind(bind_context&) { return dynamic_quantize_linear{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
