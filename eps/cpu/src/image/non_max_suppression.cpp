#include <cameo/eps/cpu/non_max_suppression.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

struct box {
  float left, top, right, bottom;
  float area() const { return (right - left) * (bottom - top); }
};
box box_at(const float* b, bool center_point) {
  if (center_point) return {b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2};
  return {std::min(b[1], b[3]), std::min(b[0], b[2]), std::max(b[1], b[3]), std::max(b[0], b[2])};
}
bool overlap(const box& a, const box& b, float threshold) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0 && height > 0)) return false;
  const float both = width * height, first = a.area(), second = b.area(), either = first + second - both;
  if (!(both > 0 && first > 0 && second > 0 && either > 0)) return false;
  return both / either > threshold;
}

/// The one number of an input; `otherwise` if the input is absent or empty.
template <class T>
T number_of(const value& v, T otherwise) {
  return v && v.shape.count() > 0 ? *static_cast<const T*>(v.data) : otherwise;
}

/// The choice among the boxes of one image and class.
struct box_choice {
  std::int64_t most;  // boxes to choose
  float iou, least;   // the largest overlap with a chosen box; scores must be above `least`
  bool has_least, center_point;

  /// Writes the indices of the chosen boxes to `to`, and returns their number; `order` has space for `count` indices.
  std::int64_t make(const float* boxes, const float* score, std::int64_t count, std::int64_t* order,
                    std::int64_t* to) const {
    std::int64_t* last = order;
    for (std::int64_t i = 0; i < count; ++i)
      if (has_least ? score[i] > least : score[i] == score[i]) *last++ = i;
    std::sort(order, last, [score](std::int64_t i, std::int64_t j) {
      return score[i] > score[j] || (score[i] == score[j] && i < j);
    });
    std::int64_t n = 0;
    for (const std::int64_t* i = order; i != last && n < most; ++i) {
      const box candidate = box_at(boxes + *i * 4, center_point);
      bool alone = true;
      for (std::int64_t k = 0; alone && k < n; ++k)
        alone = !overlap(candidate, box_at(boxes + to[k] * 4, center_point), iou);
      if (alone) to[n++] = *i;
    }
    return n;
  }
};

}  // namespace

result<non_max_suppression> non_max_suppression::bind(bind_context& c) {
  return non_max_suppression{attributes_of<op::NonMaxSuppression>{c.attributes}.center_point_box != 0};
}

status non_max_suppression::run(run_context& c) const {
  const value &boxes = c.input(0), &scores = c.input(1);
  const extents &b = boxes.shape, &s = scores.shape;
  if (status fits = usable_sizes("scores", s); !fits) return fits;
  const std::int64_t most = std::clamp<std::int64_t>(number_of<std::int64_t>(c.input(2), 0), 0, b[1]);
  const bool has_least = c.input(4) && c.input(4).shape.count() > 0;
  const box_choice how{most, number_of(c.input(3), 0.0f), number_of(c.input(4), 0.0f), has_least, center_point};
  if (!(how.iou >= 0 && how.iou <= 1)) return bad_input("iou_threshold must be in [0,1]");
  const std::int64_t count = b[1], classes = s[1], groups = s[0] * s[1];
  const std::int64_t kept = most > 0 && groups > 0 ? groups : 0;
  const auto order = c.scratch<std::int64_t>(std::size_t(kept * count));
  const auto chosen = c.scratch<std::int64_t>(std::size_t(kept * most));
  const auto sizes = c.scratch<std::int64_t>(std::size_t(kept));
  if (!order || !chosen || !sizes) return status_code::out_of_memory;
  const float *const all_boxes = static_cast<const float*>(boxes.data), *const all_scores =
                                                                            static_cast<const float*>(scores.data);
  const auto choose = [&](std::size_t g) {
    const auto group = std::int64_t(g);
    const float *const score = all_scores + group * count, *const place = all_boxes + group / classes * count * 4;
    (*sizes)[g] = how.make(place, score, count, order->data() + group * count, chosen->data() + group * most);
  };
  if (!c.parallel(std::size_t(kept), choose)) return status_code::canceled;  // the sizes would be incomplete
  std::int64_t total = 0;
  for (std::int64_t n : *sizes) total += n;
  const auto y = c.output<std::int64_t>(0, {total, 3});
  if (!y) return y.error();
  std::int64_t* to = y->data();
  for (std::int64_t group = 0; group < kept; ++group)
    for (std::int64_t k = 0; k < (*sizes)[std::size_t(group)]; ++k, to += 3)
      to[0] = group / classes, to[1] = group % classes, to[2] = (*chosen)[std::size_t(group * most + k)];
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
