#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Col2Im: adds the blocks [N, C * elements of a block, blocks] at their offsets in images [N, C, image...], with any
/// number of spatial axes. Elements of a block that lie in the padding are dropped. Strings at the same position are
/// concatenated, in the order of the elements of a block.
struct col2im {
  using elements = basic_elements;
  std::span<const std::int64_t> dilations, pads, strides;

  static result<col2im> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
