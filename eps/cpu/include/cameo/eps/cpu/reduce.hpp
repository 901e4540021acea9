#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

struct reduce_loops;
struct reduced_tensors;

/// The axes to reduce, which are removed (or become 1), from attributes, a constant or an input.
struct reduce_axes {
  bool by_input = false;         // then input 1 holds them, if the node has it
  bool keep = true;              // keepdims
  bool none_when_empty = false;  // noop_with_empty_axes: each element is then reduced alone
  std::span<const std::int64_t> listed = {};

  /// Bit a is set for axis a. INVALID_ARGUMENT for axes that do not exist, or are given twice.
  status find(run_context&, const extents& shape, std::uint32_t& mask) const;
};

/// The common part of the reductions; they differ in `rows`, which computes outputs of one type.
struct reduce_state {
  using row_function = void (*)(const reduce_loops&, const reduced_tensors&, std::int64_t first, std::int64_t last);
  row_function rows = nullptr;
  reduce_axes axes;

  void finish(const bind_context&, int axes_are_input_since);
  status run(run_context&) const;
};

/// ReduceSum, ReduceMean and so on, over any axes. Sums of float are made in double, in an order that depends on shapes
/// alone; narrow floats compute as float; integers wrap, and fractions are cut towards zero. Max and Min pass on
/// NaN. Of no elements: 0, 1 for products, NaN for means, for Max and Min the end of the type, -inf for logarithms.
template <class Op>
struct reduce : reduce_state {
  static constexpr bool instantiated = detail::has_role(Op::roles, role::reduces);
  static result<reduce> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
