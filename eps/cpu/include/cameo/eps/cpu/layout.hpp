#pragma once
#include <cameo/transform/family.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The layouts of images, and the graph transform that assigns nodes to them. In the blocked layout (com.microsoft's
/// domain nchwc) the channels of float images are in blocks of 16: [N, C / 16, H, W, 16]. In the channels-last layout
/// quantized images are [N, H, W, C]. Convolutions, and the nodes that can follow them, are moved to these layouts in
/// whole regions of the graph. A reorder between layouts costs the size of its value, a convolution gains a known
/// amount; the moved nodes are a minimum cut, so that no other choice is cheaper.
struct nchwc_layout {
  static constexpr optimization_level level = optimization_level::layout;
  CAMEO_API static const transform_table& table();
};

}  // namespace CAMEO_NAMESPACE::eps
