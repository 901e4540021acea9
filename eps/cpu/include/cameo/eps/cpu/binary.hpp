#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// One operation on n pairs of elements. A step is 1, or 0 where one element is paired with all others. `out` may be
/// either operand.
using binary_row = void (*)(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
                            std::int64_t n);

/// The common part of binary kernels; they differ in how they are bound.
struct binary_state {
  binary_row row = nullptr;
  std::uint8_t a_bytes = 0, b_bytes = 0, out_bytes = 0;  // of an element
  enum class alignment : std::uint8_t { both_ways, by_axis, none, channel, to_first } align = alignment::both_ways;
  bool divides = false;    // a zero among integers b is an error
  std::int64_t axis = -1;  // for by_axis: axis of a that the first axis of b belongs to; -1: the last axes

  status run(run_context&) const;
};

/// z[i] = x[i] op y[i] with broadcasting: Add Sub Mul Div Mod Pow, And Or Xor, BitwiseAnd BitwiseOr BitwiseXor
/// BitShift, Equal Less LessOrEqual Greater GreaterOrEqual, PRelu. Before opset 7, `broadcast` and `axis` say how y
/// fits x. z may be x or y where the types have one size. Integers wrap; dividing one by zero is INVALID_ARGUMENT.
/// Narrow floats compute in float. Comparisons with NaN are false. Allocates nothing.
template <class Op>
struct binary : binary_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::Add, op::Sub, op::Mul, op::Div, op::Mod, op::Pow, op::PRelu, op::And, op::Or, op::Xor,
                op::BitwiseAnd, op::BitwiseOr, op::BitwiseXor, op::BitShift, op::Equal, op::Less, op::LessOrEqual,
                op::Greater, op::GreaterOrEqual>;
  static result<binary> bind(bind_context&);
};

}  // namespace cameo::inline CAMEO_ABI::eps
