#pragma once
#include <cameo/geometry/window.hpp>
#include <cameo/op/attribute.hpp>

namespace CAMEO_NAMESPACE::detail {

/// The attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode of a node, checked as far as they do
/// not depend on a shape. INVALID_GRAPH names the wrong one. The window refers to the attributes.
constexpr result<geometry::window> read_window(std::span<const attribute> attributes) {
  geometry::window made;
  const auto list = [&](std::string_view name) {
    const attribute* const found = find_attribute(attributes, name);
    return found ? found->ints : std::span<const std::int64_t>{};
  };
  made.kernel = list("kernel_shape"), made.strides = list("strides");
  made.dilations = list("dilations"), made.pads = list("pads");
  const attribute* const ceil = find_attribute(attributes, "ceil_mode");
  made.ceil = ceil && ceil->i != 0;
  const attribute* const mode = find_attribute(attributes, "auto_pad");
  if (mode && !mode->s.empty()) {
    std::size_t i = 0;
    while (i < std::size(geometry::padding_names) && geometry::padding_names[i] != mode->s) ++i;
    if (i == std::size(geometry::padding_names)) {
      const std::string_view some{mode->s.data(), mode->s.size() < 64 ? mode->s.size() : 64};  // substr() may throw
      return geometry::wrong_attribute("attribute auto_pad is ", some,
                                       ", must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
    }
    made.pad = geometry::padding(i);
  }
  if (status s = made.check(); !s) return s;
  return made;
}

}  // namespace CAMEO_NAMESPACE::detail
