#pragma once
#include <cameo/geometry/window.hpp>
#include <cameo/kernel/bind_context.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

using geometry::max_spatial, geometry::placed_window, geometry::window, geometry::window_axis;

}  // namespace CAMEO_NAMESPACE::eps
