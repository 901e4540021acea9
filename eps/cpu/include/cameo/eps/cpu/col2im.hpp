#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Blocks [N, C * block elements, blocks] added up at their places in images [N, C, image...]; elements of a block in
/// the padding are dropped. Any number of axes. Texts that meet at a place are joined, in the order of a block's
/// elements.
struct col2im {
  using elements = basic_elements;
  std::span<const std::int64_t> dilations, pads, strides;

  static result<col2im> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
