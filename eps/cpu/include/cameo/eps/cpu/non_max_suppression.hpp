#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// NonMaxSuppression: selects, for every batch and class of scores [batch, classes, boxes], those of the boxes [batch,
/// boxes, 4] that do not overlap a better one by more than iou_threshold. Output: [selected, 3] of batch, class, box.
/// If scores are equal, the box with the lower index comes first; boxes with a NaN score are left out. Scratch: 20
/// bytes per score.
struct non_max_suppression {
  bool center_point = false;  // boxes are [x, y, width, height] of centers, else two corners [y, x, y, x]

  static result<non_max_suppression> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
