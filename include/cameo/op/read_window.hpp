#pragma once
#include <cameo/geometry/window.hpp>
#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::detail {

static_assert(geometry::padding(op::auto_pad_choice::notset) == geometry::padding::given &&
              geometry::padding(op::auto_pad_choice::same_upper) == geometry::padding::same_upper &&
              geometry::padding(op::auto_pad_choice::same_lower) == geometry::padding::same_lower &&
              geometry::padding(op::auto_pad_choice::valid) == geometry::padding::valid);

/// The window that the attributes of a convolution or pool describe. Operators have some or all of kernel_shape,
/// strides, dilations, pads, auto_pad and ceil_mode. The window refers to the node.
template <class Attributes>
constexpr geometry::window window_of(const Attributes& a) {
  geometry::window made{.kernel = a.kernel_shape, .strides = a.strides};
  if constexpr (requires { a.dilations; }) made.dilations = a.dilations;
  if constexpr (requires { a.pads; }) made.pads = a.pads;
  if constexpr (requires { a.auto_pad; }) made.pad = geometry::padding(a.auto_pad);
  if constexpr (requires { a.ceil_mode; }) made.ceil = a.ceil_mode != 0;
  return made;
}
/// The window of any of these operators.
constexpr geometry::window read_window(std::span<const attribute> node) {
  return window_of(attributes_of<op::AveragePool>{node});
}

}  // namespace CAMEO_NAMESPACE::detail
