// Activations, compiled once per instruction set.
#include "machine/simd.hpp"

#include <hwy/foreach_target.h>

#include "skeletons/map-inl.hpp"

#if HWY_ONCE
#include <cameo/op/attributes/onnx.hpp>

#include "bound_maps.hpp"

namespace CAMEO_NAMESPACE::eps {

using gelu_by_tanh = form<op::Gelu, "tanh">;

template <>
result<unary<op::Gelu>> unary<op::Gelu>::bind(bind_context& c) {
  const bool by_tanh = attributes_of<op::Gelu>{c.attributes}.approximate == op::approximate_choice::tanh;
  unary made;
  made.finish<op::Gelu>(c, (by_tanh ? find_map<gelu_by_tanh> : find_map<op::Gelu>)(c.inputs[0].type));
  return made;
}

template struct map_loops<activation_maps>;

// The activations that other operators apply to their results.
template unary_row map_loop<gelu_by_tanh, float>();
template unary_row map_loop<op::Clip, float>();
template unary_row map_loop<op::Clip, double>();
template unary_row map_loop<form<op::RNN, "Affine">, float>();
template unary_row map_loop<form<op::RNN, "Affine">, double>();
template unary_row map_loop<form<op::RNN, "ScaledTanh">, float>();
template unary_row map_loop<form<op::RNN, "ScaledTanh">, double>();

}  // namespace CAMEO_NAMESPACE::eps
#endif
