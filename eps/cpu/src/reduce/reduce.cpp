#include "common/float_values.hpp"
#include "common/refuse.hpp"
#include "reduce_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {

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
    if (v && v.shape.rank() > 1) return bad_input("axes must be one-dimensional, not ", v.shape);
    if (v) axes = v.as_unchecked<std::int64_t>().span();
  }
  mask = 0;
  if (axes.empty() && !none_when_empty) mask = (std::uint32_t{1} << shape.rank()) - 1;
  for (std::int64_t axis : axes) {
    const std::int64_t given = axis;
    if (!normalize_axis(axis, shape.rank()))
      return bad_input("axis ", given, " is not in [-", shape.rank(), ",", shape.rank(), ") of shape ", shape);
    if (mask >> axis & 1) return bad_input("axis ", given, " is listed twice");
    mask |= std::uint32_t{1} << axis;
  }
  return {};
}

namespace {

extents reduced_shape(const extents& shape, std::uint32_t gone, bool keep) {
  extents out;
  for (std::size_t a = 0; a < shape.rank(); ++a) {
    if (!(gone >> a & 1)) out.push_back(shape[a]);
    else if (keep) out.push_back(1);
  }
  return out;
}

bool is_narrow(dtype type) { return type == dtype::f16 || type == dtype::bf16; }

}  // namespace

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
  const void* from = x.data;
  void* to = (*out)->data;
  if (is_narrow(x.type)) {
    const result<std::span<const float>> wide = read_floats<float>(c, x);
    if (!wide) return wide.error();
    const result<std::span<float>> wide_out = c.scratch<float>(std::size_t(shape.count()));
    if (!wide_out) return wide_out.error();
    from = wide->data(), to = wide_out->data();
  }
  loops.run = &c;
  const std::int64_t work = std::max<std::int64_t>(loops.reduced, 1) * (loops.row_stays ? reduce_loops::columns : 1);
  parallel_for(c, loops.units(), std::max<std::int64_t>(1, (1 << 15) / work),
               [&](std::int64_t first, std::int64_t last) { rows(loops, from, to, first, last); });
  if (is_narrow(x.type)) store_floats(c, static_cast<const float*>(to), x.type, (*out)->data, shape.count());
  return {};
}

template <class Op>
result<reduce<Op>> reduce<Op>::bind(bind_context& c) {
  reduce made;
  made.rows = reduction_for<Op>(c.inputs[0].type);
  if (!made.rows) return status{status_code::not_implemented, "no row for this type"};
  const int by_input = std::is_same_v<Op, op::ReduceSum> ? 13 : 18;
  made.axes.by_input = c.since >= by_input;
  made.axes.keep = c.int_or("keepdims", 1) != 0;
  made.axes.none_when_empty = made.axes.by_input && c.int_or("noop_with_empty_axes", 0) != 0;
  if (!made.axes.by_input) made.axes.listed = c.ints_or("axes");
  return made;
}

template struct reduce<op::ReduceSum>;
template struct reduce<op::ReduceMean>;
template struct reduce<op::ReduceMax>;
template struct reduce<op::ReduceMin>;
template struct reduce<op::ReduceProd>;
template struct reduce<op::ReduceL1>;
template struct reduce<op::ReduceL2>;
template struct reduce<op::ReduceLogSum>;
template struct reduce<op::ReduceLogSumExp>;
template struct reduce<op::ReduceSumSquare>;

}  // namespace cameo::inline CAMEO_ABI::eps
