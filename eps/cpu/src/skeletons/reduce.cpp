#include "reduce.hpp"
#include <cameo/op/attributes/onnx.hpp>

#include "machine/lane_scratch.hpp"
#include "operands/operand_values.hpp"
#include "row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

extents reduced_shape(const extents& shape, std::uint32_t gone, bool keep) {
  extents out;
  for (std::size_t a = 0; a < shape.rank(); ++a) {
    if (!(gone >> a & 1)) out.push_back(shape[a]);
    else if (keep) out.push_back(1);
  }
  return out;
}

}  // namespace

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

status reduce_axes::find(run_context& c, const extents& shape, std::uint32_t& mask) const {
  std::span<const std::int64_t> axes = listed;
  if (by_input && c.has_input(1)) {
    const value& v = c.input(1);
    if (v) axes = v.as_unchecked<std::int64_t>().span();
    if (status s = check_rank("axes", v.shape, 0, 1); !s) return s;
  }
  mask = 0;
  if (axes.empty() && !none_when_empty) mask = (std::uint32_t{1} << shape.rank()) - 1;
  std::size_t axis = 0;
  for (std::int64_t number : axes)
    if (status found = find_axis(number, shape.rank(), axis, mask); !found) return found;
  return {};
}

status reduce_state::run(run_context& c) const {
  const value& x = c.input(0);
  std::uint32_t gone = 0;
  if (status found = axes.find(c, x.shape, gone); !found) return found;
  const extents shape = reduced_shape(x.shape, gone, axes.keep);
  const result<value*> out = c.output(0, shape);
  if (!out) return out.error();
  if (shape.count() == 0) return {};
  reduce_loops loops;
  if (x.shape.count() == 0) loops.make_empty(shape.count());
  else loops.make(x.shape, gone);
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
