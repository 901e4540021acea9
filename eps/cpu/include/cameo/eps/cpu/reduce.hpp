#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/geometry/reduction.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

struct reduce_loops;
struct reduced_tensors;

/// The axes to reduce, from attributes, a constant or an input. Reduced axes are removed, or get size 1 with keepdims.
struct reduce_axes {
  bool by_input = false;         // input 1 contains the axes, if the node has it
  bool keep = true;              // keepdims
  bool none_when_empty = false;  // noop_with_empty_axes: no axes means that each element is reduced alone
  std::span<const std::int64_t> listed = {};

  result<geometry::reduction> reduction_of(run_context&, const extents& shape) const;
};

/// The members that reductions share; the operators differ in `rows`, which computes outputs of one type.
struct reduce_state {
  using row_function = void (*)(const reduce_loops&, const reduced_tensors&, std::int64_t first, std::int64_t last);
  row_function rows = nullptr;
  reduce_axes axes;

  void finish(const bind_context&, int axes_are_input_since);
  status run(run_context&) const;
};

/// ReduceSum, ReduceMean and the other reductions, over any axes. Sums of float are accumulated in double, in an order
/// that depends on shapes alone; float16 and bfloat16 are computed in float; integers wrap around, and fractions are
/// truncated toward zero. Max and Min propagate NaN. The result of no elements is 0 for sums, 1 for products, NaN for
/// means, the limit of the type for Max and Min, and -infinity for logarithms.
template <class Op>
struct reduce : reduce_state {
  static constexpr bool instantiated = detail::has_role(Op::roles, role::reduces);
  static result<reduce> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
