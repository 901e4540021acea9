#pragma once
#include <cameo/core/result.hpp>
#include <cameo/eps/cpu/unary.hpp>

#include <string_view>

namespace CAMEO_NAMESPACE::eps {

/// How fused operators of com.microsoft apply an activation to a result: bounds (Relu, Clip) are applied to sums in
/// registers, all other activations to elements that were just stored.
enum class activation_kind : std::uint8_t { none, bounds, stored };

/// An activation and its parameters a and b, in the order in which ONNX's operator lists them: alpha of LeakyRelu, Elu
/// and ThresholdedRelu; alpha, gamma of Selu; alpha, beta of HardSigmoid. For bounds, the lowest and the highest
/// number.
struct activation {
  activation_kind kind = activation_kind::none;
  float a = 0, b = 0;
  unary_row row = nullptr;  // the loop of the operator
  std::uint8_t takes = 0;   // the number of parameters that a node may set

  /// Sets parameter i. Parameters that the operator does not have are ignored, as in ONNX Runtime.
  void give(std::size_t i, float parameter) {
    if (i < takes) (i == 0 ? a : b) = parameter;
  }
};

/// Returns the activation with this name ("": none) and the operator's default parameters, for rows of float or double
/// (`type`); INVALID_GRAPH for another name.
result<activation> activation_named(std::string_view name, dtype type);

/// y[i] = f(y[i]) for a row of `count` elements of the type that the activation was made for.
template <class T>
void apply_activation(const activation& f, T* y, std::int64_t count) {
  if (f.row) f.row({f.a, f.b}, y, y, count);
}

}  // namespace CAMEO_NAMESPACE::eps
