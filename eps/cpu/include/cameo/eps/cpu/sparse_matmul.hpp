#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// com.microsoft's SparseToDenseMatMul: y = alpha * a * b, where a [m, k] is a sparse matrix, given by its elements and
/// their places, and b [k, n] a dense one; transA and transB turn them round first. Elements at one place add up. For
/// integers alpha is cut to an integer, and sums wrap.
struct sparse_matmul {
  using elements = detail::element_set<float, double, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;
  bool turns_a = false, turns_b = false;
  float alpha = 1;

  static bool accepts(const bind_context&);
  static result<sparse_matmul> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
