#pragma once
#include <cameo/eps/cpu/binary.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The members that Sum, Min, Max and Mean share: the operands are folded from left to right, with broadcasting.
struct variadic_state {
  binary_row fold = nullptr, divide = nullptr;  // divide: for Mean, the sum by the number of operands
  std::uint8_t bytes = 0;                       // the size of an element

  status run(run_context&) const;
};

/// Sum, Min, Max and Mean: y[i] = x0[i] op x1[i] op ..., with broadcasting (also before opset 8, when ONNX required
/// equal shapes). Min and Max return NaN if an operand is NaN. float16 and bfloat16 are rounded after each operand.
/// Allocates nothing.
template <class Op>
struct variadic : variadic_state {
  static constexpr bool instantiated = is_one_of<Op, op::Sum, op::Min, op::Max, op::Mean>;
  static result<variadic> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
