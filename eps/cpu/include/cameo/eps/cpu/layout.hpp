#pragma once
#include <cameo/transform/family.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Convolutions, and what can follow them, on images whose channels lie in blocks of 16 (com.microsoft.nchwc), and
/// those of codes on images whose channels are last. Chosen for whole regions: a node is moved where that costs least;
/// reorders cost their size and convolutions gain a known amount; the choice is a minimum cut, so no other choice has
/// cheaper reorders.
struct nchwc_layout {
  static constexpr optimization_level level = optimization_level::layout;
  CAMEO_API static const transform_table& table();
};

}  // namespace CAMEO_NAMESPACE::eps
