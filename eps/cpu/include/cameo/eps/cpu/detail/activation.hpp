#pragma once
#include <cameo/core/result.hpp>
#include <cameo/eps/cpu/unary.hpp>

#include <string_view>

namespace CAMEO_NAMESPACE::eps {

/// How fused operators of com.microsoft apply a function to a result: bounds (Relu, Clip) to sums in registers, all
/// others to elements that were just stored.
enum class activation_kind : std::uint8_t { none, bounds, stored };

/// An activation and its parameters, in the order in which ONNX's operator of that name lists them: LeakyRelu, Elu and
/// ThresholdedRelu alpha; Selu alpha, gamma; HardSigmoid alpha, beta. Of bounds the least and the largest number.
struct activation {
  activation_kind kind = activation_kind::none;
  float a = 0, b = 0;
  unary_row row = nullptr;  // the operator's loop
  std::uint8_t takes = 0;   // parameters that a node may give

  /// Parameter i of a node; more than the operator has are ignored, as ONNX Runtime does.
  void give(std::size_t i, float parameter) {
    if (i < takes) (i == 0 ? a : b) = parameter;
  }
};

/// The activation of this name ("" is none) with the operator's defaults for parameters, of floats or of doubles;
/// INVALID_GRAPH for another name.
result<activation> activation_named(std::string_view name, dtype type);

/// y[i] = f(y[i]) for a row of `count` elements, of the type that the activation was made for.
template <class T>
void apply_activation(const activation& f, T* y, std::int64_t count) {
  if (f.row) f.row({f.a, f.b}, y, y, count);
}

}  // namespace CAMEO_NAMESPACE::eps
