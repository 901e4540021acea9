#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The common part of QuantizeLinear and DequantizeLinear: how scale and zero point broadcast over x. One of each for
/// the whole tensor, one per index of `axis`, or (block_size > 0) one per block of `block` elements along `axis`.
struct linear_quantization {
  /// Codes, and floats of 16 bits and more; for ONNX's own operators floats of 8 bits and less besides.
  using elements = detail::element_set<float, float16, bfloat16, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                                       std::int32_t, uint4, int4, uint2, int2>;
  std::int64_t axis = 1, block = 0;
  bool saturate = true;                // to float8
  dtype precision = dtype::undefined;  // of x / scale; undefined: the scale's
  // Where they are the same in every run, scales and zero points as floats; those of int32 are not exact.
  std::span<const float> scales = {}, zeros = {};

  static result<linear_quantization> of(bind_context&);
};

/// y = round(x / scale) + zero_point, ties to even, saturated to y's type; NaN counts as 0. For floats of 8 bits
/// and less y is x / scale + zero_point, to nearest.
struct quantize_linear : linear_quantization {
  static result<quantize_linear> bind(bind_context&);
  status run(run_context&) const;
};

/// y = (x - zero_point) * scale, rounded to y's type once; the difference of integers is exact.
struct dequantize_linear : linear_quantization {
  static result<dequantize_linear> bind(bind_context&);
  status run(run_context&) const;
};

/// Quantizes a tensor of floats to uint8 with scale and zero point of its own range, which always includes 0. For an
/// empty tensor, or one of zeros, both are 0 and y is all zeros.
struct dynamic_quantize_linear {
  static result<dynamic_quantize_linear> bind(bind_context&) { return dynamic_quantize_linear{}; }
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
