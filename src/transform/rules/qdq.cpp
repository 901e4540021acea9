// QuantizeLinear and DequantizeLinear: as few of them as give the same integers, next to what computes.
#include <cameo/transform/rules/standard.hpp>

#include "transform/rules/look.hpp"

#include <cstring>
#include <limits>

namespace cameo::inline CAMEO_ABI {
namespace {

/// The integers of one quantized type that these rewrites know.
struct integer_range {
  double lowest, highest;
};
std::optional<integer_range> range_of(dtype t) {
  switch (t) {
    case dtype::u8: return integer_range{0, 255};
    case dtype::i8: return integer_range{-128, 127};
    case dtype::u16: return integer_range{0, 65535};
    case dtype::i16: return integer_range{-32768, 32767};
    default: return {};
  }
}

/// The constants of a QuantizeLinear or DequantizeLinear.
struct quantization {
  dtype type = dtype::undefined;  // of the integers
  integer_range range{};
  const value* scale = nullptr;
  const value* zero = nullptr;  // null: 0
  std::int64_t axis = 0;        // -1: one scale for the whole tensor

  template <class T>
  static T element(const value& v, std::int64_t i) {  // a file's bytes need not be aligned
    T made;
    std::memcpy(&made, static_cast<const std::byte*>(v.data) + std::size_t(i) * sizeof(T), sizeof(T));
    return made;
  }
  float scale_at(std::int64_t i) const { return element<float>(*scale, i); }
  double zero_at(std::int64_t i) const {
    if (!zero) return 0;
    switch (type) {
      case dtype::u8: return element<std::uint8_t>(*zero, i);
      case dtype::i8: return element<std::int8_t>(*zero, i);
      case dtype::u16: return element<std::uint16_t>(*zero, i);
      default: return element<std::int16_t>(*zero, i);
    }
  }
  bool whole_tensor() const { return axis < 0; }
};

/// Float32 on the one side, integers of 8 or 16 bits on the other; scales that are positive normal numbers, so that
/// rounding is monotonic and an integer that is made a float and back stays itself.
std::optional<quantization> quantization_of(const rewriter& r, const node_view& n) {
  const bool quantizes = n.is<op::QuantizeLinear>();
  const value_view integers = quantizes ? n.output(0) : n.input(0), floats = quantizes ? n.input(0) : n.output(0);
  quantization q;
  q.type = integers.element();
  const std::optional<integer_range> range = range_of(q.type);
  q.scale = r.constant(n.input(1));
  if (!range || floats.element() != dtype::f32 || !q.scale || q.scale->type != dtype::f32 || q.scale->memory != 0)
    return {};
  q.range = *range;
  const std::vector<dim>* const shape = r.shape(n.input(0));
  if (q.scale->shape.rank() > 1 || int_attribute(n, "block_size", 0) != 0 || int_attribute(n, "precision", 0) != 0)
    return {};
  q.axis = -1;
  if (q.scale->shape.count() != 1) {
    q.axis = int_attribute(n, "axis", 1);
    if (!shape || !normalize_axis(q.axis, shape->size())) return {};
  }
  if (n.input(2)) {
    q.zero = r.constant(n.input(2));
    if (!q.zero || q.zero->type != q.type || q.zero->memory != 0 || q.zero->shape.count() != q.scale->shape.count())
      return {};
  }
  for (std::int64_t i = 0; i < q.scale->shape.count(); ++i)
    if (!(q.scale_at(i) >= std::numeric_limits<float>::min() && q.scale_at(i) <= 1e30f)) return {};
  return q;
}

bool same(const quantization& a, const quantization& b) {
  if (a.type != b.type || a.axis != b.axis || a.scale->shape.count() != b.scale->shape.count()) return false;
  for (std::int64_t i = 0; i < a.scale->shape.count(); ++i)
    if (a.scale_at(i) != b.scale_at(i) || a.zero_at(i) != b.zero_at(i)) return false;
  return true;
}

/// Each reader gets a DequantizeLinear of its own, so that it can be taken together with it.
struct own_dequantizers_pass {
  static constexpr std::string_view name = "EnsureUniqueDQForNodeUnit";

  static result<bool> run(rewriter& r) {
    graph& g = r.in();
    bool changed = false;
    std::vector<node_id> all;
    for (node_id id : g.order())
      if (r.may_touch(r.node(id)) && r.node(id).is<op::DequantizeLinear>()) all.push_back(id);
    for (node_id id : all) {
      const value_view v = r.node(id).output(0);
      if (v.use_count() < 2 && !(v.use_count() == 1 && v.is_graph_output())) continue;
      std::vector<graph::use> uses;
      for (graph::use u : g.uses(v.id()))
        if (u.position < g[u.node].input_count) uses.push_back(u);
      // One that a subgraph or the caller reads, or the first reader, keeps the node.
      const bool is_taken = v.is_graph_output() || uses.size() < v.use_count();
      for (std::size_t i = is_taken ? 0 : 1; i < uses.size(); ++i, changed = true)
        g.set_input(uses[i].node, uses[i].position, copy(r, id));
    }
    return changed;
  }

 private:
  static value_id copy(rewriter& r, node_id id) {
    graph& g = r.in();
    const graph_node from = g[id];
    std::vector<value_id> inputs;
    for (std::size_t i = 0; i < from.input_count; ++i) inputs.push_back(g.input(id, i));
    const std::vector<value_id> made{g.add_value(g.unique_name(g[from.outputs[0]].name), g[from.outputs[0]].type)};
    node_spec spec{g[made[0]].name, from.domain, from.op_type, {}, {}, from.opset, {}, {}};
    spec.inputs = inputs, spec.outputs = made, spec.attributes = from.attributes, spec.metadata = from.metadata;
    const node_id n = g.add_node(spec);
    g[n].provider = from.provider, g[n].op = from.op, g[n].version = from.version;
    return made[0];
  }
};

/// Integers that become floats and the same integers again.
struct remove_double_pairs {
  static constexpr std::string_view name = "DoubleQDQPairsRemover";
  using roots = op_set<op::QuantizeLinear>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const node_view first = look::made_by<op::DequantizeLinear>(r, n.input(0));
    const std::optional<quantization> p = first ? quantization_of(r, first) : std::nullopt;
    const std::optional<quantization> q = p ? quantization_of(r, n) : std::nullopt;
    if (!q || !same(*p, *q)) return false;
    edit e{r, n};
    e.replace(n.output(0), first.input(0).id());
    return e.commit();
  }
};

/// Bounds that what is quantized has anyhow. Rounding is monotonic: if the bound becomes the last integer, so does all
/// that lies beyond it.
bool ends_at_bounds(const quantization& q, float low, float high) {
  for (std::int64_t i = 0; i < q.scale->shape.count(); ++i) {
    const auto at = [&](float x) { return double(std::nearbyint(x / q.scale_at(i))) + q.zero_at(i); };
    if (!(at(low) <= q.range.lowest) || !(at(high) >= q.range.highest)) return false;
  }
  return true;
}

/// Takes the node between x and a QuantizeLinear away.
bool quantize_directly(rewriter& r, const node_view& quantize, const value_view& x) {
  std::vector<value_id> inputs;
  for (value_view v : quantize.inputs()) inputs.push_back(v.id());
  inputs[0] = x.id();
  edit e{r, quantize};
  e.replace(quantize.output(0), e.add(quantize.domain(), quantize.op_type(), inputs, quantize.raw().attributes));
  return e.commit();
}

struct relu_before_quantize {
  static constexpr std::string_view name = "ReluQuantRewrite";
  using roots = op_set<op::QuantizeLinear>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const node_view relu = look::made_by<op::Relu>(r, n.input(0));
    const std::optional<quantization> q = relu ? quantization_of(r, n) : std::nullopt;
    if (!q || !relu.output(0).sole_use() || !ends_at_bounds(*q, 0, std::numeric_limits<float>::infinity()))
      return false;
    return quantize_directly(r, n, relu.input(0));
  }
};

struct clip_before_quantize {
  static constexpr std::string_view name = "ClipQuantRewrite";
  using roots = op_set<op::QuantizeLinear>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const node_view clip = look::made_by<op::Clip>(r, n.input(0));
    const std::optional<quantization> q = clip ? quantization_of(r, n) : std::nullopt;
    if (!q || !clip.output(0).sole_use()) return false;
    float low = -std::numeric_limits<float>::infinity(), high = -low;
    if (clip.since() < 11) {
      low = float_attribute(clip, "min", low), high = float_attribute(clip, "max", high);
    } else {
      for (std::size_t i : {1u, 2u}) {
        if (!clip.input(i)) continue;
        const std::optional<double> bound = look::number(r, clip.input(i));
        if (!bound) return false;
        (i == 1 ? low : high) = float(*bound);
      }
    }
    if (!(low <= high) || !ends_at_bounds(*q, low, high)) return false;
    return quantize_directly(r, n, clip.input(0));
  }
};

/// Nodes that move elements, or choose the larger ones, do the same to integers as to the floats that those stand for.
struct propagate {
  static constexpr std::string_view name = "QDQPropagationTransformer";
  using roots =
      op_set<op::Reshape, op::Transpose, op::Squeeze, op::Unsqueeze, op::Flatten, op::Slice, op::Gather, op::MaxPool>;

  static bool rewrite(rewriter& r, const node_view& n) {
    for (std::size_t i = 1; i < n.output_count(); ++i)
      if (n.output(i)) return false;
    return dequantize_later(r, n) || quantize_earlier(r, n);
  }

 private:
  static bool can_take(const node_view& n, const quantization& q) {
    if (!q.whole_tensor()) return false;
    if (!n.is<op::MaxPool>()) return true;
    return n.since() >= 12 && (q.type == dtype::i8 || q.type == dtype::u8);
  }
  /// The node on other data, and a quantization or dequantization of what it gives or takes.
  static value_id again(edit& e, const node_view& n, value_id data) {
    std::vector<value_id> inputs;
    for (value_view v : n.inputs()) inputs.push_back(v.id());
    inputs[0] = data;
    return e.add(n.domain(), n.op_type(), inputs, n.raw().attributes);
  }

  static bool dequantize_later(rewriter& r, const node_view& n) {
    const node_view dq = look::made_by<op::DequantizeLinear>(r, n.input(0));
    const std::optional<quantization> q = dq ? quantization_of(r, dq) : std::nullopt;
    if (!q || !can_take(n, *q) || !dq.output(0).sole_use()) return false;
    const value_view out = n.output(0);
    if (out.use_count() + (out.is_graph_output() ? 1u : 0u) != 1) return false;  // one DequantizeLinear for each reader
    edit e{r, n};
    const value_id moved = again(e, n, dq.input(0).id());
    e.replace(out, again(e, dq, moved));
    return e.commit();
  }

  static bool quantize_earlier(rewriter& r, const node_view& n) {
    if (n.is<op::Slice>() || n.is<op::Gather>() || r.constant(n.input(0))) return false;  // it would quantize more
    const node_view quantize = look::only_reader<op::QuantizeLinear>(r, n.output(0));
    const std::optional<quantization> q = quantize ? quantization_of(r, quantize) : std::nullopt;
    if (!q || quantize.input(0) != n.output(0) || !can_take(n, *q)) return false;
    edit e{r, quantize};
    const value_id quantized = again(e, quantize, n.input(0).id());
    e.replace(quantize.output(0), again(e, n, quantized));
    return e.commit();
  }
};

/// Floats that are rounded to integers and back, and nothing else.
struct remove_rounding {
  static constexpr std::string_view name = "QDQFinalCleanupTransformer";
  using roots = op_set<op::DequantizeLinear>;
  static bool rewrite(rewriter& r, const node_view& n) {
    const node_view first = look::made_by<op::QuantizeLinear>(r, n.input(0));
    const std::optional<quantization> p = first ? quantization_of(r, first) : std::nullopt;
    const std::optional<quantization> q = p ? quantization_of(r, n) : std::nullopt;
    if (!q || !same(*p, *q) || !first.output(0).sole_use()) return false;
    edit e{r, n};
    e.replace(n.output(0), first.input(0).id());
    return e.commit();
  }
};

using own_list = transform_list<optimization_level::basic, own_dequantizers_pass>;
using list = transform_list<optimization_level::basic, remove_double_pairs, relu_before_quantize, clip_before_quantize,
                            propagate>;
using cleanup_list = transform_list<optimization_level::basic, remove_double_pairs, remove_rounding>;

}  // namespace

const transform_table& own_dequantizers::table() { return own_list::table(); }
const transform_table& qdq::table() { return list::table(); }
const transform_table& qdq_cleanup::table() { return cleanup_list::table(); }

}  // namespace cameo::inline CAMEO_ABI
