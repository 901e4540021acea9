#pragma once
#include <cameo/eps/cpu/detail/nbits_weights.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MatMulBnb4: A [..., K] times the transposed B [N, K], or A [..., N] times B (transB 0). B is a list
/// of 4-bit numbers, two in a byte, the high one first; each is an index into a codebook of 16 values (quant_type 0:
/// FP4, 1: NF4), and the value is multiplied by the absmax of its block. B stays packed, in the layout of MatMulNBits,
/// with the codebook in registers; a constant B is packed once. If transB is 0 or K is not a multiple of 16, blocks
/// cross the columns; B is then converted to float in every run. Computes in float.
struct matmul_bnb4 {
  using elements = text_model_elements;
  std::int64_t k = 0, n = 0, block = 0;
  const float* values = nullptr;  // the codebook of 16 values
  bool transposed = true;
  nbits_factor b = {};

  static result<matmul_bnb4> bind(bind_context&);
  status run(run_context&) const;

 private:
  status check_parts(const extents& codes, const extents& absmax) const;
};

/// com.microsoft's MatMulFpQ4: A [..., K] times B [K, N]. B is a list of blocks of 32 rows of a column, column by
/// column. A block is a scale (float), a zero point (uint8; with blk_quant_type 0 it is absent and 8), and 16 bytes, of
/// which byte i contains the quantized values of rows i and i + 16. B is packed in the layout of MatMulNBits, once if
/// it is constant. Computes in float.
struct matmul_fpq4 {
  using elements = detail::element_set<float>;
  bool has_zeros = false;
  nbits_factor b = {};

  static result<matmul_fpq4> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
