#pragma once
#include <cameo/eps/cpu/detail/gemm_block.hpp>

namespace CAMEO_NAMESPACE::eps {

/// A matrix B packed as panels (see gemm_block.hpp), or none.
template <class T>
struct gemm_panels {
  const T* data = nullptr;
  bool for_few_rows = false;  // see gemm_problem
};

/// One matrix product, or `a_offsets.size()` products of the same shape: product i has A at a.from(a_offsets[i]), B at
/// b.data + b_offsets[i] and C at c + i * m * n; C is dense. Without offsets, there is one product. The elements of A
/// are T, or (any_float) float16 or bfloat16, if B's elements are.
template <class T, class B = T, class A = elements_like<B>>
struct gemm_problem {
  std::int64_t m, n, k;
  matrix_ref<T, A> a;
  matrix_ref<B> b;
  const B* packed_b = nullptr;  // panels of the one B that all products share, or null
  T* c;
  gemm_epilogue<T> epilogue = {};
  std::span<const std::int64_t> a_offsets = {}, b_offsets = {};
  bool for_few_rows = false;  // panels of B are as fast for few rows of A as a B whose rows are contiguous
};
/// The largest numbers of rows of A for which multiply() reads an unpacked B in place: if B's rows are contiguous, and
/// if its columns are.
inline constexpr std::int64_t gemm_few_rows = 8, gemm_few_transposed = 16;
/// Computes the products. Uses scratch of the run for packing. Sizes may be 0 (k = 0 gives beta * bias + add).
/// An element of C has the same bits with every instruction set that has a fused multiply-add, for any number of
/// threads, and whatever other rows there are: the order of its sum depends on k alone and, if C has one column, on
/// whether A's rows and the column are contiguous. float16 and bfloat16 factors give the bits of the same numbers in T.
template <class T, class B, class A>
status multiply(run_context&, const gemm_problem<T, B, A>&);

}  // namespace CAMEO_NAMESPACE::eps
