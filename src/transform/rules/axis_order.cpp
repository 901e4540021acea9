#include "transform/rules/axis_order.hpp"

#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/messages.hpp"

#include <algorithm>
#include <iterator>

CAMEO_BEGIN_NAMESPACE
namespace {

/// How an operator treats the axes of its data.
enum class behaviour : std::uint8_t {
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

/// The behaviour of an operator from one of its versions on. Older versions treat axes in another way.
struct behaviour_row {
  detail::op_id op{};
  behaviour b = behaviour::none;
  int since = 1;
};
/// The operators whose roles do not say how they treat axes.
constexpr behaviour_row axis_behaviours[] = {{detail::op_id_of<op::Concat>, behaviour::concat, 4},
                                             {detail::op_id_of<op::Split>, behaviour::axis, 2},
                                             {detail::op_id_of<op::ArgMax>, behaviour::arg},
                                             {detail::op_id_of<op::ArgMin>, behaviour::arg},
                                             {detail::op_id_of<op::Squeeze>, behaviour::squeeze},
                                             {detail::op_id_of<op::Unsqueeze>, behaviour::unsqueeze},
                                             {detail::op_id_of<op::Pad>, behaviour::pad, 2},
                                             {detail::op_id_of<op::Slice>, behaviour::slice},
                                             {detail::op_id_of<op::Tile>, behaviour::tile, 6},
                                             {detail::op_id_of<op::QuantizeLinear>, behaviour::quantize},
                                             {detail::op_id_of<op::DequantizeLinear>, behaviour::quantize}};

behaviour_row axis_behaviour_of(const node_view& n) {
  if (n.has_role(role::is_pointwise)) return {n.op()->id, behaviour::unary};
  if (n.has_role(role::broadcasts)) return {n.op()->id, behaviour::broadcast, 7};
  if (n.has_role(role::reduces)) return {n.op()->id, behaviour::reduce};
  // Before version 13, Softmax and its kind normalize over all axes from `axis` on.
  if (n.has_role(role::normalizes)) return {n.op()->id, behaviour::axis, n.has_op<op::LpNormalization>() ? 1 : 13};
  const auto* const found = std::ranges::find(axis_behaviours, n.op()->id, &behaviour_row::op);
  return found == std::end(axis_behaviours) ? behaviour_row{} : *found;
}

behaviour behaviour_of(const node_view& n) {
  if (!n.op() || !n.subgraphs().empty()) return behaviour::none;
  const behaviour_row row = axis_behaviour_of(n);
  if (n.domain().empty()) return n.since() < row.since ? behaviour::none : row.b;
  return row.b == behaviour::unary || row.b == behaviour::broadcast ? row.b : behaviour::none;
}

/// The input in which an operator's axes are since a version, an attribute before.
struct axes_place {
  std::size_t input;
  int since;
};
axes_place place_of_axes(const node_view& n, behaviour b) {
  switch (b) {
    case behaviour::pad: return {3, 18};
    case behaviour::slice: return {3, 10};
    case behaviour::reduce: return {1, n.has_op<op::ReduceSum>() ? 13 : 18};
    default: return {1, 13};
  }
}

/// The axes that a node names, if it does and they are known; nothing is in `axes` if it names none.
bool read_axes(rewriter& r, const node_view& n, behaviour b, std::size_t rank, std::vector<std::int64_t>& axes,
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
    const attribute* const a = b == behaviour::pad ? nullptr : n.find("axes");
    named = a != nullptr;
    if (a) axes.assign(a->ints.begin(), a->ints.end());
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

/// What it names of axes, and how many axes its output has then.
struct named_axes {
  std::vector<std::int64_t> axes;
  std::uint32_t mask = 0;
  bool keeps = true;
};
std::optional<named_axes> named_axes_of(rewriter& r, const node_view& n, behaviour b, std::size_t rank) {
  named_axes found;
  if (b == behaviour::arg) {
    std::int64_t axis = int_attribute(n, "axis", 0);
    if (!normalize_axis(axis, rank)) return {};
    found.axes = {axis};
  } else {
    bool named = false;
    if (!read_axes(r, n, b, rank, found.axes, named)) return {};
    if (b != behaviour::reduce && !named) return {};
    if (b == behaviour::reduce && found.axes.empty() && int_attribute(n, "noop_with_empty_axes") == 0)
      for (std::size_t i = 0; i < rank; ++i) found.axes.push_back(std::int64_t(i));
  }
  found.mask = axes_mask(found.axes);
  found.keeps = b == behaviour::squeeze || b == behaviour::unsqueeze ? false : int_attribute(n, "keepdims", 1) != 0;
  return found;
}

bool can_pad(rewriter& r, const node_view& n, std::size_t rank) {
  std::vector<std::int64_t> axes;
  bool named = false;
  if (!read_axes(r, n, behaviour::pad, rank, axes, named)) return false;
  if (named) return true;
  if (n.since() < 11) return ints_attribute(n, "pads").size() == 2 * rank;
  const std::optional<std::vector<std::int64_t>> pads = ints_of(r.constant(n.input(1)));
  return pads && pads->size() == 2 * rank;
}
/// How many axes a Slice cuts; nothing when that isn't known.
std::optional<std::size_t> cut_axes(rewriter& r, const node_view& n) {
  if (n.since() < 10) return ints_attribute(n, "starts").size();
  const std::vector<dim>* const s = r.shape(n.input(1));
  if (!s || s->size() != 1 || !s->front().known()) return {};
  return std::size_t(s->front().size);
}
bool can_slice(rewriter& r, const node_view& n, std::size_t rank) {
  std::vector<std::int64_t> axes;
  bool named = false;
  const std::optional<std::size_t> cut = cut_axes(r, n);
  return read_axes(r, n, behaviour::slice, rank, axes, named) && cut && *cut <= rank && (!named || axes.size() == *cut);
}

bool has_axis(const node_view& n, std::int64_t otherwise, std::size_t rank) {
  std::int64_t axis = int_attribute(n, "axis", otherwise);
  return normalize_axis(axis, rank);
}

/// Nodes that keep the number of axes.
bool can_keep_order(rewriter& r, const node_view& n, behaviour b, std::size_t rank) {
  switch (b) {
    case behaviour::unary: return true;
    case behaviour::broadcast:
    case behaviour::concat:
      for (value_view v : n.inputs())
        if (!v || !r.shape(v) || r.shape(v)->size() > rank) return false;
      if (b == behaviour::broadcast) return rank_of(r, n.output(0)) == rank;
      for (value_view v : n.inputs())
        if (r.shape(v)->size() != rank) return false;
      return n.find("axis") && has_axis(n, 0, rank);
    case behaviour::axis: return has_axis(n, n.has_op<op::Split>() ? 0 : -1, rank);
    case behaviour::pad: return can_pad(r, n, rank);
    case behaviour::slice: return can_slice(r, n, rank);
    case behaviour::tile: {
      const std::optional<std::vector<std::int64_t>> repeats = ints_of(r.constant(n.input(1)));
      return repeats && repeats->size() == rank;
    }
    case behaviour::quantize: {
      const std::vector<dim>* const scale = r.shape(n.input(1));
      if (!scale || scale->size() > 1 || int_attribute(n, "block_size", 0) != 0) return false;
      return scale->empty() || has_axis(n, 1, rank);
    }
    default: return false;
  }
}

}  // namespace

std::size_t data_inputs(const node_view& n) {
  const behaviour b = behaviour_of(n);
  if (b == behaviour::broadcast || b == behaviour::concat) return n.input_count();
  return b == behaviour::none ? 0 : 1;
}

bool maps_elements(const node_view& n) { return behaviour_of(n) == behaviour::unary; }

bool is_stretched(rewriter& r, const node_view& n, std::size_t input) {
  return behaviour_of(n) == behaviour::broadcast && rank_of(r, n.input(input)) < rank_of(r, n.output(0));
}

std::optional<node_orders> orders_from_input(rewriter& r, const node_view& n, std::size_t input, const axis_order& q) {
  const behaviour b = behaviour_of(n);
  if (b == behaviour::none || input >= data_inputs(n) || rank_of(r, n.input(input)) != q.rank()) return {};
  const std::size_t rank = q.rank();
  if (b == behaviour::reduce || b == behaviour::arg || b == behaviour::squeeze) {
    const std::optional<named_axes> named = named_axes_of(r, n, b, rank);
    if (!named) return {};
    return node_orders{q, named->keeps ? q : q.without(named->mask)};
  }
  if (b == behaviour::unsqueeze) {
    const std::size_t out = rank_of(r, n.output(0));
    const std::optional<named_axes> named = out > rank ? named_axes_of(r, n, b, out) : std::nullopt;
    if (!named || named->axes.size() + rank != out) return {};
    return node_orders{q, q.with(named->mask, out)};
  }
  if (!can_keep_order(r, n, b, rank)) return {};
  return node_orders{q, q};
}

std::optional<node_orders> orders_from_output(rewriter& r, const node_view& n, const axis_order& q) {
  const behaviour b = behaviour_of(n);
  const std::size_t rank = q.rank();
  if (b == behaviour::none || rank_of(r, n.output(0)) != rank) return {};
  if (b == behaviour::unsqueeze) {
    const std::optional<named_axes> named = named_axes_of(r, n, b, rank);
    if (!named || rank_of(r, n.input(0)) + named->axes.size() != rank) return {};
    return node_orders{q.without(named->mask), q};
  }
  if (b == behaviour::squeeze) return {};
  if (b == behaviour::reduce || b == behaviour::arg) {
    const std::optional<named_axes> named = named_axes_of(r, n, b, rank);
    if (!named || !named->keeps || rank_of(r, n.input(0)) != rank) return {};
    return node_orders{q, q};
  }
  if (b != behaviour::broadcast && rank_of(r, n.input(0)) != rank) return {};
  if (!can_keep_order(r, n, b, rank)) return {};
  return node_orders{q, q};
}

value_id add_ints(rewriter& r, std::string_view stem, std::span<const std::int64_t> numbers) {
  graph& g = r.in();
  model& m = r.owner();
  const std::span<const std::int64_t> kept = or_throw(m.memory.copy(numbers));
  const value* const held = m.memory.keep(value::tensor<std::int64_t>(extents{std::int64_t(numbers.size())}, kept));
  if (!held) throw std::bad_alloc{};
  const value_id v =
      g.add_value(g.unique_name(stem), m.keep(value_type::tensor(dtype::i64, {dim::of(std::int64_t(numbers.size()))})));
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

void write_axes(rewriter& r, node_id n, behaviour b, std::span<const std::int64_t> axes) {
  const axes_place place = place_of_axes(r.node(n), b);
  if (r.node(n).since() < place.since) return set_attribute(r, n, attribute_of("axes", axes));
  set_input(r, n, place.input, add_ints(r, "axes", axes));
}

/// The axes of data in this order.
std::vector<std::int64_t> placed(std::span<const std::int64_t> axes, const axis_order& q) {
  std::vector<std::int64_t> made;
  for (std::int64_t axis : axes) made.push_back(std::int64_t(q.position(std::size_t(axis))));
  return made;
}

void reorder_pads(rewriter& r, node_id id, const axis_order& q) {
  const node_view n = r.node(id);
  std::vector<std::int64_t> axes, pads;
  bool named = false;
  if (!read_axes(r, n, behaviour::pad, q.rank(), axes, named)) return;
  if (named) return write_axes(r, id, behaviour::pad, placed(axes, q));
  if (n.since() < 11) pads.assign(ints_attribute(n, "pads").begin(), ints_attribute(n, "pads").end());
  else pads = ints_of(r.constant(n.input(1))).value_or(std::vector<std::int64_t>(2 * q.rank()));
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
  if (!read_axes(r, n, behaviour::slice, q.rank(), axes, named)) return;
  if (!named)
    for (std::size_t i = 0; i < cut_axes(r, n).value_or(0); ++i) axes.push_back(std::int64_t(i));
  write_axes(r, id, behaviour::slice, placed(axes, q));
}

void reorder_axis(rewriter& r, node_id id, std::int64_t otherwise, const axis_order& q) {
  std::int64_t axis = int_attribute(r.node(id), "axis", otherwise);
  if (!normalize_axis(axis, q.rank())) return;
  set_attribute(r, id, attribute_of("axis", std::int64_t(q.position(std::size_t(axis)))));
}

}  // namespace

void reorder_node(rewriter& r, node_id id, const node_orders& to) {
  const node_view n = r.node(id);
  const behaviour b = behaviour_of(n);
  switch (b) {
    case behaviour::none:
    case behaviour::unary:
    case behaviour::broadcast: return;
    case behaviour::concat: return reorder_axis(r, id, 0, to.in);
    case behaviour::axis: return reorder_axis(r, id, n.has_op<op::Split>() ? 0 : -1, to.in);
    case behaviour::arg: return reorder_axis(r, id, 0, to.in);
    case behaviour::quantize:
      if (r.shape(n.input(1))->size() == 1 && n.since() >= 13) reorder_axis(r, id, 1, to.in);
      return;
    case behaviour::reduce: {
      std::vector<std::int64_t> axes;
      bool named = false;
      if (read_axes(r, n, b, to.in.rank(), axes, named) && !axes.empty()) write_axes(r, id, b, placed(axes, to.in));
      return;
    }
    case behaviour::squeeze:
      if (const auto named = named_axes_of(r, n, b, to.in.rank())) write_axes(r, id, b, placed(named->axes, to.in));
      return;
    case behaviour::unsqueeze:
      if (const auto named = named_axes_of(r, n, b, to.out.rank())) write_axes(r, id, b, placed(named->axes, to.out));
      return;
    case behaviour::pad: return reorder_pads(r, id, to.in);
    case behaviour::slice: return reorder_slice(r, id, to.in);
    case behaviour::tile: {
      const std::vector<std::int64_t> repeats = ints_of(r.constant(n.input(1))).value_or(std::vector<std::int64_t>{});
      set_input(r, id, 1, add_ints(r, "repeats", to.in.of(repeats)));
      return;
    }
  }
}

CAMEO_END_NAMESPACE
