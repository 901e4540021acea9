#pragma once
#include <cstdint>
#include <vector>

namespace cameo::inspect {

/// What is to be drawn: boxes, and values that flow from one box to others, downwards. Sizes in pixels at scale 1.
struct drawing {
  struct point {
    double x, y;
  };
  /// `x` and `y`, which lay_out sets, are its middle.
  struct box {
    double width, height;
    double x = 0, y = 0;
  };
  /// The line of a value starts at the box `from` and follows `chain`, which lay_out sets, past the boxes in between. A
  /// target is reached from `leaves`: a point of the chain, or -1, the box itself.
  struct target {
    std::uint32_t box;
    std::int32_t leaves = -1;
  };
  struct flow {
    std::uint32_t from;
    std::vector<target> targets;
    std::vector<point> chain;
  };
  std::vector<box> boxes;  // sorted: a flow goes to later boxes only
  std::vector<flow> flows;
  double width = 0, height = 0;
};

/// Places boxes in rows by their longest path from above, ordered so that few flows cross, and routes long flows
/// around boxes. Time and memory are nearly linear in boxes and flows: flows that would need too many points (a value
/// that everybody reads, in a deep graph) go straight. The same drawing for the same graph.
void lay_out(drawing&);

}  // namespace cameo::inspect
