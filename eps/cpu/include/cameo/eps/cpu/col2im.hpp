#pragma once
#include <cameo/kernel/kernel.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// Blocks [N, C * block elements, blocks] added up where they lie in images [N, C, image...]; what a block has in the
/// padding is dropped. Any number of axes.
struct col2im {
  std::span<const std::int64_t> dilations, pads, strides;

  static result<col2im> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace cameo::inline CAMEO_ABI::eps
