#pragma once
#include <cstdint>
#include <vector>

namespace cameo::inspect {

/// A drawing of boxes, and of values that flow downwards from one box to others. Sizes are in pixels at scale 1.
struct drawing {
  struct point {
    double x, y;
  };
  /// `x` and `y` are the center, which lay_out sets.
  struct box {
    double width, height;
    double x = 0, y = 0;
  };
  /// The line of a value starts at the box `source` and follows `chain`, which lay_out sets, past the boxes in between.
  /// The line to a target branches off at `leaves`: a point of the chain, or -1 for the source box itself.
  struct target {
    std::uint32_t box;
    std::int32_t leaves = -1;
  };
  struct flow {
    std::uint32_t source;
    std::vector<target> targets;
    std::vector<point> chain;
  };
  std::vector<box> boxes;  // sorted: the targets of a flow are later boxes
  std::vector<flow> flows;
  double width = 0, height = 0;
};

/// Places boxes in rows by their longest path from the top, orders them so that few flows cross, and routes long flows
/// around boxes. Time and memory are nearly linear in boxes and flows: flows that would need too many points (a value
/// with many readers in a deep graph) are straight lines. Equal graphs have equal drawings.
void lay_out(drawing&);

}  // namespace cameo::inspect
