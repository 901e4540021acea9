#include "reduce.hpp"
#include <cameo/op/attributes/onnx.hpp>

#include "machine/lane_scratch.hpp"
#include "row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {

void reduce_loops::make(const extents& shape, std::uint32_t gone_axes) {
  *this = {};
  struct group {
    std::int64_t size, stride;
    bool goes;
  };
  std::array<group, max_rank> groups{};
  std::size_t count = 0;
  std::int64_t stride = 1;
  for (std::size_t a = shape.rank(); a-- > 0;) {
    if (shape[a] == 1) continue;
    const bool goes = gone_axes >> a & 1;
    if (count && groups[count - 1].goes == goes) groups[count - 1].size *= shape[a];
    else groups[count++] = {shape[a], stride, goes};
    stride *= shape[a];
    if (goes) reduced *= shape[a];
  }
  if (count == 0) return;
  row = groups[0].size;
  row_stays = !groups[0].goes;
  for (std::size_t i = 1; i < count; ++i) {
    nest& to = groups[i].goes ? gone : kept;
    to.axes[to.depth++] = {groups[i].size, groups[i].stride};
    to.count *= groups[i].size;
  }
}

result<geometry::reduction> reduce_axes::reduction_of(run_context& c, const extents& shape) const {
  const bool has_input = by_input && c.input(1);
  const auto axes = has_input ? c.input(1).as_unchecked<std::int64_t>().span() : listed;
  return geometry::reduction_of<std::int64_t>(shape, axes, keep, none_when_empty);
}

status reduce_state::run(run_context& c) const {
  const value& x = c.input(0);
  const auto reduction = axes.reduction_of(c, x.shape);
  if (!reduction) return reduction.error();
  const result<value*> out = c.output(0, reduction->y);
  if (!out) return out.error();
  const std::int64_t count = (*out)->shape.count();
  if (count == 0) return {};
  reduce_loops loops;
  if (x.shape.count() == 0) loops.make_empty(count);
  else loops.make(x.shape, reduction->axes.mask);
  loops.run = &c;
  reduced_tensors tensors{x.type, x.data, (*out)->data};
  lane_scratch<float> rooms;
  const bool narrow = x.type == dtype::f16 || x.type == dtype::bf16;
  if (narrow) {
    const auto made = lane_scratch<float>::make(c, std::size_t(reduce_room(loops)));
    if (!made) return made.error();
    rooms = *made;
  }
  const std::int64_t work = std::max<std::int64_t>(loops.reduced, 1) * (loops.row_stays ? reduce_loops::columns : 1);
  parallel_rows(c, loops.units(), std::max<std::int64_t>(1, (1 << 15) / work),
                [&](std::int64_t first, std::int64_t last, std::size_t lane) {
                  reduced_tensors here = tensors;
                  if (narrow) here.room = rooms.at(lane);
                  rows(loops, here, first, last);
                });
  return {};
}

void reduce_state::finish(const bind_context& c, int axes_are_input_since) {
  axes.by_input = c.since >= axes_are_input_since;
  const attributes_of<op::ReduceSum> a{c.attributes};
  axes.keep = a.keepdims != 0;
  axes.none_when_empty = axes.by_input && a.noop_with_empty_axes != 0;
  if (!axes.by_input) axes.listed = a.axes;
}

}  // namespace CAMEO_NAMESPACE::eps
