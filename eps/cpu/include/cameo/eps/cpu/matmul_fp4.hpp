#pragma once
#include <cameo/eps/cpu/detail/nbits_weights.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's MatMulBnb4: A [..., K] times the transposed of B [N, K], or A [..., N] times B (transB 0). B is a
/// list of numbers of 4 bits, two a byte, the high one first; each stands for one of 16 values (quant_type 0: FP4, 1:
/// NF4) times the absmax of its block. B stays packed, as MatMulNBits has it, with the 16 values as a book that is
/// looked up in registers; a constant B is packed once. With transB 0, or a K that 16 does not divide, blocks cross the
/// columns: then B is widened in every run. Computes in float.
struct matmul_bnb4 {
  using elements = text_model_elements;
  std::int64_t k = 0, n = 0, block = 0;
  const float* values = nullptr;  // of the 16 codes
  bool transposed = true;
  nbits_factor b = {};

  static result<matmul_bnb4> bind(bind_context&);
  status run(run_context&) const;

 private:
  status check_parts(const extents& codes, const extents& absmax) const;
};

/// com.microsoft's MatMulFpQ4: A [..., K] times B [K, N] that is given as blocks of 32 rows of a column, column by
/// column: a scale (float), with blk_quant_type other than 0 a zero point (uint8; else it is 8), and 16 bytes, of which
/// byte i has the codes of rows i and i + 16. B is packed as MatMulNBits' is, once where it is constant; computes in
/// float.
struct matmul_fpq4 {
  using elements = detail::element_set<float>;
  bool has_zeros = false;
  nbits_factor b = {};

  static result<matmul_fpq4> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
