#pragma once
#include <cameo/eps/cpu/detail/gemm_block.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A matrix B as panels, or none.
template <class T>
struct gemm_panels {
  const T* data = nullptr;
  bool for_few_rows = false;  // see gemm_problem
};

/// One product, or `a_offsets.size()` products of one shape: number i has A at a.from(a_offsets[i]), B at b.data +
/// b_offsets[i] and C at c + i * m * n, C dense. Without offsets, one product. A is T, or any_float: A's elements may
/// be narrow, as they may where B's are.
template <class T, class B = T, class A = elements_like<B>>
struct gemm_problem {
  std::int64_t m, n, k;
  matrix_ref<T, A> a;
  matrix_ref<B> b;
  const B* packed_b = nullptr;  // of the one B that all products share, or null
  T* c;
  gemm_epilogue<T> epilogue = {};
  std::span<const std::int64_t> a_offsets = {}, b_offsets = {};
  bool for_few_rows = false;  // whether panels of B suit few rows of A as well as B itself, with its rows contiguous
};
/// Up to so many rows of A, multiply() reads an unpacked B in place: where its rows are contiguous, and where its
/// columns are.
inline constexpr std::int64_t gemm_few_rows = 8, gemm_few_turned = 16;
/// Uses scratch of the run for packing; dims may be 0 (k = 0 leaves beta * bias + add). An element of C has the same
/// bits with every instruction set that rounds a product and a sum once, for any number of threads, and whatever other
/// rows there are: its sum is formed in an order that depends on k alone, and, of one column, on whether A's rows and
/// the column are contiguous. Narrow factors give the bits of the same numbers in T.
template <class T, class B, class A>
status multiply(run_context&, const gemm_problem<T, B, A>&);

}  // namespace CAMEO_NAMESPACE::eps
