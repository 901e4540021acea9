#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's GatherBlockQuantized: slices of `data`, one for each index of `gather_axis`, as floats: (code - zero
/// point) * scale, both of a block of `block_size` along `quantize_axis`. Codes of uint8 have 2, 4 or 8 bits (`bits`),
/// packed along the last axis, which is as many times longer, and the zero point 2^(bits - 1) if none is given; other
/// types have 0. Floats of 8 and 4 bits have no zero points, may have one block for the whole axis (block_size 0), and
/// their scales broadcast. An index out of range makes zeros.
struct gather_block_quantized {
  using elements = detail::element_set<float, float16, bfloat16>;
  std::int64_t gather_axis, quantize_axis, block, bits;
  static result<gather_block_quantized> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
