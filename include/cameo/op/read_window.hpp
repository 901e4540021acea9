#pragma once
#include <cameo/geometry/window.hpp>
#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::detail {

/// The attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a node, checked as far as they do
/// not depend on a shape. INVALID_GRAPH names the wrong one. The window refers to the attributes.
constexpr result<geometry::window> read_window(std::span<const attribute> attributes) {
  static_assert(std::uint8_t(op::auto_pad_choice::same_upper) == std::uint8_t(geometry::padding::same_upper));
  static_assert(std::uint8_t(op::auto_pad_choice::same_lower) == std::uint8_t(geometry::padding::same_lower));
  static_assert(std::uint8_t(op::auto_pad_choice::valid) == std::uint8_t(geometry::padding::valid));
  const attributes_of<op::AveragePool> a{attributes};
  const geometry::window made{
      geometry::padding(a.auto_pad), a.ceil_mode != 0, a.kernel_shape, a.strides, a.dilations, a.pads};
  if (status s = made.check(); !s) return s;
  return made;
}

}  // namespace CAMEO_NAMESPACE::detail
