#pragma once
#include <cameo/eps/cpu/detail/activation.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/eps/cpu/detail/linear_code.hpp>
#include <cameo/eps/cpu/detail/window.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/microsoft.hpp>

namespace CAMEO_NAMESPACE::eps {

// ONNX Runtime's operators on tensors of uint8 or int8 that stand for (code - zero_point) * scale, both one number
// each; an absent zero point is 0. Results are computed in float and rounded, with ties to even, to the
// output's codes, saturated to the type.

struct proven_sum;

/// C = A + B and C = A * B, with broadcasting. C may be A or B.
struct qlinear_binary_state {
  using elements = byte_codes;
  bool product = false;
  linear_code_inputs a = {}, b = {}, y = {};
  const proven_sum* proven = nullptr;  // null: as floats
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

/// Y = f(X): a table of the 256 codes. Y may be X.
struct qlinear_map_state {
  using elements = byte_codes;
  activation function;
  linear_code_inputs from = {}, to = {};
  code_table table = {};  // where both are known
  void finish(bind_context&);
  status run(run_context&) const;
};
template <class Op>
struct qlinear_map : qlinear_map_state {
  static constexpr bool instantiated = is_one_of<Op, op::microsoft::QLinearLeakyRelu, op::microsoft::QLinearSigmoid>;
  static result<qlinear_map> bind(bind_context& c) {
    result<activation> f =
        activation_named(std::is_same_v<Op, op::microsoft::QLinearSigmoid> ? "Sigmoid" : "LeakyRelu", dtype::f32);
    if (!f) return f.error();
    f->give(0, c.float_or("alpha", f->a));
    qlinear_map made{{*f, {}, {}, {}}};
    made.finish(c);
    return made;
  }
};

/// Along `axis`; before opset 13 over all axes from there on. Of Y's scale the reciprocal is used, 256 as a rule; where
/// that is no whole number ONNX Runtime rounds it down, which is not done here.
struct qlinear_softmax {
  using elements = byte_codes;
  std::int64_t axis = -1;
  bool to_the_end = false;
  linear_code_inputs from = {}, to = {};
  std::int64_t known_length = 0;  // of a row, where it and scales are known
  std::span<const float> known_powers = {};
  static result<qlinear_softmax> bind(bind_context&);
  status run(run_context&) const;
};

/// The mean of all spatial axes, which become 1: X [N, C, ...], or [N, ..., C] with channels_last.
struct qlinear_global_average_pool {
  using elements = byte_codes;
  bool channels_last = false;
  linear_code_inputs from = {}, to = {};
  static result<qlinear_global_average_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// AveragePool; with channels_last X is [N, ..., C].
struct qlinear_average_pool {
  using elements = byte_codes;
  window shape = {};
  bool include_pad = false, channels_last = false;
  linear_code_inputs from = {}, to = {};
  static result<qlinear_average_pool> bind(bind_context&);
  status run(run_context&) const;
};

/// Inputs: Y's scale and zero point, then tensor, scale and zero point of each part.
struct qlinear_concat {
  using elements = byte_codes;
  std::int64_t axis = 0;
  linear_code_inputs to = {};
  std::span<const linear_code_inputs> from = {};
  std::span<const code_table> tables = {};  // of each part; empty where something is known only in a run
  static result<qlinear_concat> bind(bind_context&);
  status run(run_context&) const;
};

/// Z = condition ? X : Y, with broadcasting.
struct qlinear_where {
  using elements = byte_codes;
  linear_code_inputs x = {}, y = {}, z = {};
  static result<qlinear_where> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
