#pragma once
#include "bf16_product.hpp"
#include "products.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Packs the constant B [k, n] of a product (input 1) for the arithmetic of the node: in bfloat16 if the option selects
/// it, else as panels, if they are worth their memory. `transposed`: the input is [n, k]. `rows`: the rows of A, or -1
/// if unknown. Product has the members `bf16_b` and `packed_b`, one of which is set at most.
template <class T, class Product>
status keep_factor(bind_context& c, bool transposed, std::int64_t k, std::int64_t n, std::int64_t rows, Product& to) {
  const result<const std::uint32_t*> narrow = keep_bf16_b<T>(c, 1, transposed, k, n);
  if (!narrow) return narrow.error();
  to.bf16_b = *narrow;
  if (to.bf16_b) return {};
  const result<gemm_panels<T>> packed = keep_packed_b<T>(c, 1, transposed, k, n, rows);
  if (!packed) return packed.error();
  to.packed_b = *packed;
  return {};
}
/// Multiplies in the arithmetic that B was packed for; `bf16_b` is null unless that is bfloat16.
template <class T>
status multiply_by_factor(run_context& c, const gemm_problem<gemm_number<T>, T>& p, const std::uint32_t* bf16_b) {
  if constexpr (multiplies_bf16<T>)
    if (bf16_b) return multiply_bf16(c, {p.m, p.n, p.k, p.a, bf16_b, p.c, p.epilogue, p.a_offsets});
  return multiply(c, p);
}

}  // namespace CAMEO_NAMESPACE::eps
