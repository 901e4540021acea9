#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's SparseToDenseMatMul: y = alpha * a * b, where a [m, k] is a sparse matrix in coordinate format
/// (elements and their positions), and b [k, n] a dense one; transA and transB transpose them first. Elements at the
/// same position are added. For integers alpha is truncated to an integer, and sums wrap around.
struct sparse_matmul {
  using elements = detail::element_set<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;

  static bool accepts(const bind_context&);
  static result<sparse_matmul> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
