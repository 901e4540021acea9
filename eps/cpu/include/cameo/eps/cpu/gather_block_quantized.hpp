#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's GatherBlockQuantized: slices of the quantized `data`, one for each index of `gather_axis`,
/// dequantized to (value - zero point) * scale; a block of `block_size` values along `quantize_axis` has one scale and
/// zero point. Values in uint8 have 2, 4 or 8 bits (`bits`) and are packed along the last axis, whose size in bytes is
/// smaller accordingly; without zero points, 2^(bits - 1) is the zero point of values in uint8, and 0 that of all other
/// types. Floats of 8 and 4 bits have no zero points, may have one block for the whole axis (block_size 0), and their
/// scales broadcast. An index out of range gives zeros.
struct gather_block_quantized {
  using elements = detail::element_set<float, float16, bfloat16>;
  std::int64_t gather_axis, quantize_axis, block, bits;
  static result<gather_block_quantized> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
