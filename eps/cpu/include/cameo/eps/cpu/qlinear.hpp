#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/linear_code.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/microsoft.hpp>

namespace CAMEO_NAMESPACE::eps {

// ONNX Runtime's operators on quantized tensors of uint8 or int8: a quantized value stands for (value - zero_point) *
// scale. Scale and zero point are one number each for a tensor; an absent zero point is 0. Results are computed in
// float, rounded to the output's quantized values with ties to even, and saturated to the type.

struct proven_sum;

/// QLinearAdd and QLinearMul: C = A + B and C = A * B, with broadcasting. C may be the buffer of A or B.
struct qlinear_binary_state {
  using elements = byte_codes;
  bool product = false;
  linear_code_inputs a = {}, b = {}, y = {};
  const proven_sum* proven = nullptr;  // the sum by integers, if it was found exact; null: computed in float
  status finish(bind_context&);
  status run(run_context&) const;
};
template <class Op>
struct qlinear_binary : qlinear_binary_state {
  static constexpr bool instantiated = is_one_of<Op, op::microsoft::QLinearAdd, op::microsoft::QLinearMul>;
  static result<qlinear_binary> bind(bind_context& c) {
    qlinear_binary made{{std::is_same_v<Op, op::microsoft::QLinearMul>, {}, {}, {}}};
    if (status s = made.finish(c); !s) return s;
    return made;
  }
};

/// QLinearLeakyRelu and QLinearSigmoid: Y = f(X), by a table of the 256 quantized values. Y may be the buffer of X.
struct qlinear_map_state {
  using elements = byte_codes;
  activation function = {};
  linear_code_inputs input = {}, output = {};
  code_table table = {};  // if scales and zero points of both tensors are constant
  status finish(bind_context&, std::string_view function_name);
  status run(run_context&) const;
};
template <class Op>
struct qlinear_map : qlinear_map_state {
  static constexpr bool instantiated = is_one_of<Op, op::microsoft::QLinearLeakyRelu, op::microsoft::QLinearSigmoid>;
  static result<qlinear_map> bind(bind_context& c) {
    qlinear_map made;
    if (status s = made.finish(c, std::is_same_v<Op, op::microsoft::QLinearSigmoid> ? "Sigmoid" : "LeakyRelu"); !s)
      return s;
    return made;
  }
};

/// QLinearSoftmax along `axis`; before opset 13 over all axes from `axis` on. Probabilities are multiplied by the
/// reciprocal of Y's scale, which usually is 256; if it is not an integer, ONNX Runtime rounds it down, and cameo does
/// not.
struct qlinear_softmax {
  using elements = byte_codes;
  std::int64_t axis = -1;
  bool to_the_end = false;
  linear_code_inputs input = {}, output = {};
  std::int64_t known_length = 0;  // the length of a row, if it and the scales are known at binding
  std::span<const float> known_powers = {};
  static result<qlinear_softmax> bind(bind_context&);
  status run(run_context&) const;
};

/// QLinearGlobalAveragePool: the mean over all spatial axes, whose size becomes 1. X is [N, C, ...], or [N, ..., C]
/// with channels_last.
struct qlinear_global_average_pool {
  using elements = byte_codes;
  bool channels_last = false;
  linear_code_inputs input = {}, output = {};
  static result<qlinear_global_average_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// QLinearAveragePool: AveragePool; with channels_last X is [N, ..., C].
struct qlinear_average_pool {
  using elements = byte_codes;
  window shape = {};
  bool include_pad = false, channels_last = false;
  linear_code_inputs input = {}, output = {};
  static result<qlinear_average_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// QLinearConcat. Inputs: Y's scale and zero point, then tensor, scale and zero point for each tensor to concatenate.
struct qlinear_concat {
  using elements = byte_codes;
  std::int64_t axis = 0;
  linear_code_inputs output = {};
  std::span<const linear_code_inputs> inputs = {};
  std::span<const code_table> tables = {};  // one per tensor; empty if a scale or zero point is not constant
  static result<qlinear_concat> bind(bind_context&);
  status run(run_context&) const;
};

/// QLinearWhere: Z = condition ? X : Y, with broadcasting.
struct qlinear_where {
  using elements = byte_codes;
  linear_code_inputs x = {}, y = {}, z = {};
  static result<qlinear_where> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
