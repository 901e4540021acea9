#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that CumSum and CumProd share.
struct cumulative_state {
  using elements = large_number_elements;
  /// Accumulates `rows` rows of n numbers: row k of y combines row k - 1 of y and row k of x. `before` is row -1 and is
  /// overwritten by the last row. If `starts` is set, `before` has no numbers yet. Without x, all rows of y become the
  /// identity element (0 or 1).
  using column_function = void (*)(const void* x, std::int64_t x_step, void* y, std::int64_t y_step, std::int64_t rows,
                                   std::int64_t n, void* before, bool starts);
  column_function accumulate = nullptr;
  bool exclusive = false, reverse = false;

  status run(run_context&) const;
};

/// CumSum, CumProd: y[..., k, ...] = x[..., 0, ...] op ... op x[..., k, ...] along an axis that input 1, a scalar,
/// contains. `exclusive` leaves out x[k]; `reverse` starts at the end of the axis. Integers wrap around. Sums of float
/// are rounded to float at every step, as other runtimes do; float16 and bfloat16 are computed in float.
template <class Op>
struct cumulative : cumulative_state {
  static constexpr bool instantiated = is_one_of<Op, op::CumSum, op::CumProd>;
  static result<cumulative> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
