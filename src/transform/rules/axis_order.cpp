#include "transform/rules/axis_order.hpp"

#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/messages.hpp"

#include <algorithm>
#include <iterator>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// How an operator treats the axes of its data.
enum class behavior : std::uint8_t {
  none,
  unary,
  broadcast,
  concat,
  axis,
  reduce,
  arg,
  squeeze,
  unsqueeze,
  pad,
  slice,
  tile,
  quantize
};

/// The behavior of an operator from one of its versions on. Older versions treat axes differently.
struct behavior_row {
  detail::op_id op{};
  behavior b = behavior::none;
  int since = 1;
};
/// The operators whose roles do not say how they treat axes.
constexpr behavior_row axis_behaviors[] = {{detail::op_id_of<op::PRelu>, behavior::broadcast, 7},
                                           {detail::op_id_of<op::Concat>, behavior::concat, 4},
                                           {detail::op_id_of<op::Split>, behavior::axis, 2},
                                           {detail::op_id_of<op::ArgMax>, behavior::arg},
                                           {detail::op_id_of<op::ArgMin>, behavior::arg},
                                           {detail::op_id_of<op::Squeeze>, behavior::squeeze},
                                           {detail::op_id_of<op::Unsqueeze>, behavior::unsqueeze},
                                           {detail::op_id_of<op::Pad>, behavior::pad, 2},
                                           {detail::op_id_of<op::Slice>, behavior::slice},
                                           {detail::op_id_of<op::Tile>, behavior::tile, 6},
                                           {detail::op_id_of<op::QuantizeLinear>, behavior::quantize},
                                           {detail::op_id_of<op::DequantizeLinear>, behavior::quantize}};

behavior_row axis_behavior_of(const node_view& n) {
  if (n.has_role(role::is_pointwise)) return {n.op()->id, behavior::unary};
  if (n.has_role(role::broadcasts)) return {n.op()->id, behavior::broadcast, 7};
  if (n.has_role(role::reduces)) return {n.op()->id, behavior::reduce};
  // Before version 13, Softmax and its variants normalize over all axes from `axis` on.
  if (n.has_role(role::normalizes)) return {n.op()->id, behavior::axis, n.has_op<op::LpNormalization>() ? 1 : 13};
  const auto* const found = std::ranges::find(axis_behaviors, n.op()->id, &behavior_row::op);
  return found == std::end(axis_behaviors) ? behavior_row{} : *found;
}

behavior behavior_of(const node_view& n) {
  if (!n.op() || !n.subgraphs().empty()) return behavior::none;
  const behavior_row row = axis_behavior_of(n);
  if (n.domain().empty()) return n.since() < row.since ? behavior::none : row.b;
  return row.b == behavior::unary || row.b == behavior::broadcast ? row.b : behavior::none;
}

/// The input that has an operator's axes from a version on; before, they are an attribute.
struct axes_place {
  std::size_t input;
  int since;
};
axes_place place_of_axes(const node_view& n, behavior b) {
  switch (b) {
    case behavior::pad: return {3, 18};
    case behavior::slice: return {3, 10};
    case behavior::reduce: return {1, n.has_op<op::ReduceSum>() ? 13 : 18};
    default: return {1, 13};
  }
}

/// Reads the axes of a node. `named` is set if the node names any; returns false if they are unknown.
bool read_axes(rewriter& r, const node_view& n, behavior b, std::size_t rank, std::vector<std::int64_t>& axes,
               bool& named) {
  const axes_place place = place_of_axes(n, b);
  if (n.since() >= place.since) {
    named = bool(n.input(place.input));
    if (named) {
      const std::optional<std::vector<std::int64_t>> known = ints_of(r.constant(n.input(place.input)));
      if (!known) return false;
      axes = *known;
    }
  } else {
    const auto given = n.attributes<op::Squeeze>().axes;
    named = b != behavior::pad && given.given;
    if (named) axes.assign(given.begin(), given.end());
  }
  std::uint32_t seen = 0;
  for (std::int64_t& axis : axes) {
    if (!normalize_axis(axis, rank) || (seen >> axis & 1)) return false;
    seen |= 1u << axis;
  }
  return true;
}
std::uint32_t axes_mask(std::span<const std::int64_t> axes) {
  std::uint32_t mask = 0;
  for (std::int64_t axis : axes) mask |= 1u << axis;
  return mask;
}

std::size_t rank_of(rewriter& r, const value_view& v) {
  const std::vector<dim>* const s = r.shape(v);
  return s && s->size() <= max_rank ? s->size() : 0;
}

/// The axes of a node as a list and as a mask.
struct named_axes {
  std::vector<std::int64_t> axes;
  std::uint32_t mask = 0;
  bool keeps = true;
};
std::optional<named_axes> named_axes_of(rewriter& r, const node_view& n, behavior b, std::size_t rank) {
  named_axes found;
  const auto a = n.attributes<op::ReduceSum>();
  if (b == behavior::arg) {
    std::int64_t axis = n.attributes<op::ArgMax>().axis;
    if (!normalize_axis(axis, rank)) return {};
    found.axes = {axis};
  } else {
    bool named = false;
    if (!read_axes(r, n, b, rank, found.axes, named)) return {};
    if (b != behavior::reduce && !named) return {};
    if (b == behavior::reduce && found.axes.empty() && a.noop_with_empty_axes == 0)
      for (std::size_t i = 0; i < rank; ++i) found.axes.push_back(std::int64_t(i));
  }
  found.mask = axes_mask(found.axes);
  found.keeps = b != behavior::squeeze && b != behavior::unsqueeze && a.keepdims != 0;
  return found;
}

bool can_pad(rewriter& r, const node_view& n, std::size_t rank) {
  std::vector<std::int64_t> axes;
  bool named = false;
  if (!read_axes(r, n, behavior::pad, rank, axes, named)) return false;
  if (named) return true;
  const std::optional<std::vector<std::int64_t>> pads = look::pads_of(r, n);
  return pads && pads->size() == 2 * rank;
}
/// The number of axes that a Slice cuts; std::nullopt if it is unknown.
std::optional<std::size_t> cut_axes(rewriter& r, const node_view& n) {
  if (n.since() < 10) return n.attributes<op::Slice>().starts.size();
  const std::vector<dim>* const s = r.shape(n.input(1));
  if (!s || s->size() != 1 || !s->front().known()) return {};
  return std::size_t(s->front().size);
}
bool can_slice(rewriter& r, const node_view& n, std::size_t rank) {
  std::vector<std::int64_t> axes;
  bool named = false;
  const std::optional<std::size_t> cut = cut_axes(r, n);
  return read_axes(r, n, behavior::slice, rank, axes, named) && cut && *cut <= rank && (!named || axes.size() == *cut);
}

bool has_axis(const node_view& n, std::int64_t otherwise, std::size_t rank) {
  std::int64_t axis = n.attributes<op::Softmax>().axis.value_or(otherwise);
  return normalize_axis(axis, rank);
}

/// True if all inputs are tensors whose number of axes is between these two.
bool have_ranks(rewriter& r, const node_view& n, std::size_t least, std::size_t most) {
  for (value_view v : n.inputs())
    if (!v || !r.shape(v) || r.shape(v)->size() < least || r.shape(v)->size() > most) return false;
  return true;
}

/// True for nodes that keep the number of axes and can take another order.
bool can_keep_order(rewriter& r, const node_view& n, behavior b, std::size_t rank) {
  switch (b) {
    case behavior::unary: return true;
    case behavior::broadcast: return have_ranks(r, n, 0, rank) && rank_of(r, n.output(0)) == rank;
    case behavior::concat: return have_ranks(r, n, rank, rank) && has_axis(n, 0, rank);
    case behavior::axis: return has_axis(n, n.has_op<op::Split>() ? 0 : -1, rank);
    case behavior::pad: return can_pad(r, n, rank);
    case behavior::slice: return can_slice(r, n, rank);
    case behavior::tile: {
      const std::optional<std::vector<std::int64_t>> repeats = ints_of(r.constant(n.input(1)));
      return repeats && repeats->size() == rank;
    }
    case behavior::quantize: {
      const std::vector<dim>* const scale = r.shape(n.input(1));
      if (!scale || scale->size() > 1 || n.attributes<op::QuantizeLinear>().block_size != 0) return false;
      return scale->empty() || has_axis(n, 1, rank);
    }
    default: return false;
  }
}

}  // namespace

std::size_t data_inputs(const node_view& n) {
  const behavior b = behavior_of(n);
  if (b == behavior::broadcast || b == behavior::concat) return n.input_count();
  return b == behavior::none ? 0 : 1;
}

bool maps_elements(const node_view& n) { return behavior_of(n) == behavior::unary; }

bool is_stretched(rewriter& r, const node_view& n, std::size_t input) {
  return behavior_of(n) == behavior::broadcast && rank_of(r, n.input(input)) < rank_of(r, n.output(0));
}

std::optional<node_orders> orders_from_input(rewriter& r, const node_view& n, std::size_t input, const axis_order& q) {
  const behavior b = behavior_of(n);
  if (b == behavior::none || input >= data_inputs(n) || rank_of(r, n.input(input)) != q.rank()) return {};
  const std::size_t rank = q.rank();
  if (b == behavior::reduce || b == behavior::arg || b == behavior::squeeze) {
    const std::optional<named_axes> named = named_axes_of(r, n, b, rank);
    if (!named) return {};
    return node_orders{q, named->keeps ? q : q.remove(named->mask)};
  }
  if (b == behavior::unsqueeze) {
    const std::size_t out = rank_of(r, n.output(0));
    const std::optional<named_axes> named = out > rank ? named_axes_of(r, n, b, out) : std::nullopt;
    if (!named || named->axes.size() + rank != out) return {};
    return node_orders{q, q.insert(named->mask, out)};
  }
  if (!can_keep_order(r, n, b, rank)) return {};
  return node_orders{q, q};
}

std::optional<node_orders> orders_from_output(rewriter& r, const node_view& n, const axis_order& q) {
  const behavior b = behavior_of(n);
  const std::size_t rank = q.rank();
  if (b == behavior::none || rank_of(r, n.output(0)) != rank) return {};
  if (b == behavior::unsqueeze) {
    const std::optional<named_axes> named = named_axes_of(r, n, b, rank);
    if (!named || rank_of(r, n.input(0)) + named->axes.size() != rank) return {};
    return node_orders{q.remove(named->mask), q};
  }
  if (b == behavior::squeeze) return {};
  if (b == behavior::reduce || b == behavior::arg) {
    const std::optional<named_axes> named = named_axes_of(r, n, b, rank);
    if (!named || !named->keeps || rank_of(r, n.input(0)) != rank) return {};
    return node_orders{q, q};
  }
  if (b != behavior::broadcast && rank_of(r, n.input(0)) != rank) return {};
  if (!can_keep_order(r, n, b, rank)) return {};
  return node_orders{q, q};
}

value_id add_ints(rewriter& r, std::string_view stem, std::span<const std::int64_t> numbers) {
  graph& g = r.in();
  model& m = r.owner();
  const std::span<const std::int64_t> kept = or_throw(m.memory.copy(numbers));
  const value* const held = m.memory.keep(value::tensor<std::int64_t>(extents{std::int64_t(numbers.size())}, kept));
  if (!held) throw std::bad_alloc{};
  const value_id v = g.add_value(g.unique_name(stem),
                                 m.keep(value_type::tensor(dtype::i64, {dim::fixed(std::int64_t(numbers.size()))})));
  g.add_initializer(v, held);
  return v;
}

namespace {

void set_attribute(rewriter& r, node_id n, attribute a) {
  graph& g = r.in();
  a.ints = or_throw(r.owner().memory.copy(a.ints));
  std::vector<attribute> all{g[n].attributes.begin(), g[n].attributes.end()};
  std::erase_if(all, [&](const attribute& each) { return each.name == a.name; });
  all.push_back(a);
  g.set_attributes(n, all);
}

void set_input(rewriter& r, node_id n, std::size_t i, value_id v) {
  graph& g = r.in();
  if (i < g[n].input_count) return g.set_input(n, i, v);
  std::vector<value_id> inputs;
  for (std::size_t k = 0; k < g[n].input_count; ++k) inputs.push_back(g.input(n, k));
  inputs.resize(i, value_id::none);
  inputs.push_back(v);
  g.set_inputs(n, inputs);
}

void write_axes(rewriter& r, node_id n, behavior b, std::span<const std::int64_t> axes) {
  const axes_place place = place_of_axes(r.node(n), b);
  if (r.node(n).since() < place.since) return set_attribute(r, n, attribute_of("axes", axes));
  set_input(r, n, place.input, add_ints(r, "axes", axes));
}

/// The positions of axes in this order.
std::vector<std::int64_t> placed(std::span<const std::int64_t> axes, const axis_order& q) {
  std::vector<std::int64_t> made;
  for (std::int64_t axis : axes) made.push_back(std::int64_t(q.position(std::size_t(axis))));
  return made;
}

void reorder_pads(rewriter& r, node_id id, const axis_order& q) {
  const node_view n = r.node(id);
  std::vector<std::int64_t> axes;
  bool named = false;
  if (!read_axes(r, n, behavior::pad, q.rank(), axes, named)) return;
  if (named) return write_axes(r, id, behavior::pad, placed(axes, q));
  const auto pads = look::pads_of(r, n).value_or(std::vector<std::int64_t>(2 * q.rank()));
  std::vector<std::int64_t> moved;
  for (std::size_t end : {std::size_t{0}, q.rank()})
    for (std::size_t i = 0; i < q.rank(); ++i) moved.push_back(pads[end + q[i]]);
  if (n.since() < 11) set_attribute(r, id, attribute_of("pads", std::span<const std::int64_t>{moved}));
  else set_input(r, id, 1, add_ints(r, "pads", moved));
}

void reorder_slice(rewriter& r, node_id id, const axis_order& q) {
  const node_view n = r.node(id);
  std::vector<std::int64_t> axes;
  bool named = false;
  if (!read_axes(r, n, behavior::slice, q.rank(), axes, named)) return;
  if (!named)
    for (std::size_t i = 0; i < cut_axes(r, n).value_or(0); ++i) axes.push_back(std::int64_t(i));
  write_axes(r, id, behavior::slice, placed(axes, q));
}

void reorder_axis(rewriter& r, node_id id, std::int64_t otherwise, const axis_order& q) {
  std::int64_t axis = r.node(id).attributes<op::Softmax>().axis.value_or(otherwise);
  if (!normalize_axis(axis, q.rank())) return;
  set_attribute(r, id, attribute_of("axis", std::int64_t(q.position(std::size_t(axis)))));
}

}  // namespace

void reorder_node(rewriter& r, node_id id, const node_orders& to) {
  const node_view n = r.node(id);
  const behavior b = behavior_of(n);
  switch (b) {
    case behavior::none:
    case behavior::unary:
    case behavior::broadcast: return;
    case behavior::concat:
    case behavior::arg: return reorder_axis(r, id, 0, to.in);
    case behavior::axis: return reorder_axis(r, id, n.has_op<op::Split>() ? 0 : -1, to.in);
    case behavior::quantize:
      if (r.shape(n.input(1))->size() == 1 && n.since() >= 13) reorder_axis(r, id, 1, to.in);
      return;
    case behavior::reduce:
    case behavior::squeeze:
    case behavior::unsqueeze: {
      const axis_order& q = b == behavior::unsqueeze ? to.out : to.in;
      std::vector<std::int64_t> axes;
      bool named = false;
      if (read_axes(r, n, b, q.rank(), axes, named) && !axes.empty()) write_axes(r, id, b, placed(axes, q));
      return;
    }
    case behavior::pad: return reorder_pads(r, id, to.in);
    case behavior::slice: return reorder_slice(r, id, to.in);
    case behavior::tile: {
      const std::vector<std::int64_t> repeats = ints_of(r.constant(n.input(1))).value_or(std::vector<std::int64_t>{});
      set_input(r, id, 1, add_ints(r, "repeats", to.in.apply(repeats)));
      return;
    }
  }
}

}  // namespace CAMEO_NAMESPACE
