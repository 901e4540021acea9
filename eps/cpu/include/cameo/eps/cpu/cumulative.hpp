#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The common part of CumSum and CumProd.
struct cumulative_state {
  using elements = large_number_elements;
  /// Rows of n numbers: row k of y is row k - 1 of y and row k of x together, as `before` is row -1; it is then the
  /// last one. Without x, one row of what nothing makes.
  using column_function = void (*)(const void* x, std::int64_t x_step, void* y, std::int64_t y_step, std::int64_t rows,
                                   std::int64_t n, void* before, bool starts);
  column_function accumulate = nullptr;
  bool exclusive = false, reverse = false;

  status run(run_context&) const;
};

/// y[..., k, ...] = x[..., 0, ...] op ... op x[..., k, ...] along an axis that input 1 gives, a scalar. `exclusive`
/// leaves out x[k]; `reverse` starts at the other end. Integers wrap; float sums are kept in float, like long ones in
/// other runtimes, and narrow floats compute as float.
template <class Op>
struct cumulative : cumulative_state {
  static constexpr bool instantiated = is_one_of<Op, op::CumSum, op::CumProd>;
  static result<cumulative> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
