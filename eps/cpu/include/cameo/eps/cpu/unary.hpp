#pragma once
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// The attributes of an operation, under any names.
struct unary_parameters {
  float a = 0, b = 0;
};

/// One operation on n elements. `out` may be `x` where the types have one size.
using unary_row = void (*)(const unary_parameters&, const void* x, void* out, std::int64_t n);

/// The common part of unary kernels; they differ in how they are bound.
struct unary_state {
  unary_row row = nullptr;
  unary_parameters parameters;
  std::uint8_t in_bytes = 0, out_bytes = 0;  // of an element

  status run(run_context&) const;
};

/// y[i] = f(x[i]) for every operator of one input that has such an f. y has the shape of x and may be x where the types
/// have one size. Narrow floats compute in float; integers wrap; NaN stays NaN. Allocates nothing.
template <class Op>
struct unary : unary_state {
  static constexpr bool instantiated =
      is_one_of<Op, op::Abs, op::Neg, op::Sign, op::Reciprocal, op::Sqrt, op::Exp, op::Log, op::Sin, op::Cos, op::Tan,
                op::Asin, op::Acos, op::Atan, op::Sinh, op::Cosh, op::Tanh, op::Asinh, op::Acosh, op::Atanh, op::Erf,
                op::Floor, op::Ceil, op::Round, op::IsNaN, op::IsInf, op::Sigmoid, op::HardSigmoid, op::LeakyRelu,
                op::Elu, op::Selu, op::Celu, op::Softplus, op::Softsign, op::ThresholdedRelu, op::Shrink, op::HardSwish,
                op::Mish, op::Gelu, op::Swish, op::Relu, op::Not, op::BitwiseNot, op::microsoft::Gelu,
                op::microsoft::QuickGelu>;
  static result<unary> bind(bind_context&);
};

}  // namespace cameo::inline CAMEO_ABI::eps
