#pragma once
#include <cameo/core/result.hpp>

#include <string_view>

namespace cameo::inline CAMEO_ABI::eps {

/// The functions that fused operators of com.microsoft apply to a result before it is stored. The first five are
/// applied in registers, the others to elements that were just stored.
enum class activation_kind : std::uint8_t {
  none,
  relu,
  leaky_relu,
  clip,
  hard_sigmoid,
  sigmoid,
  tanh,
  elu,
  selu,
  softplus,
  softsign,
  thresholded_relu
};

/// An activation and its parameters, in the order in which ONNX's operator of that name lists them: leaky_relu, elu and
/// thresholded_relu alpha; selu alpha, gamma; hard_sigmoid alpha, beta; clip low, high.
struct activation {
  activation_kind kind = activation_kind::none;
  float a = 0, b = 0;
};

/// The activation of this name ("" is none) with the operator's defaults for parameters; INVALID_GRAPH for another
/// name.
result<activation> activation_named(std::string_view name);

/// y[i] = f(y[i]) for a row of `count` elements. T is float or double.
template <class T>
void apply_activation(const activation& f, T* y, std::int64_t count);

}  // namespace cameo::inline CAMEO_ABI::eps
