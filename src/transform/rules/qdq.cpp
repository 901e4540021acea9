// QuantizeLinear and DequantizeLinear: as few of them as give the same integers, next to what computes.
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/transform.hpp>

#include "core/config_keys.hpp"
#include "transform/rules/look.hpp"
#include "transform/rules/quantization.hpp"

namespace cameo::inline CAMEO_ABI {
namespace {

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

/// Takes the node between x and a QuantizeLinear away.
bool quantize_directly(rewriter& r, const node_view& quantize, const value_view& x) {
  std::vector<value_id> inputs;
  for (value_view v : quantize.inputs()) inputs.push_back(v.id());
  inputs[0] = x.id();
  edit e{r, quantize};
  e.replace(quantize.output(0), e.add(quantize.domain(), quantize.op_type(), inputs, quantize.raw().attributes));
  return e.commit();
}

/// An activation that cuts off what the integers can't hold anyhow.
bool quantize_past(rewriter& r, const node_view& quantize, const node_view& cut) {
  const std::optional<quantization> q = cut ? quantization_of(r, quantize) : std::nullopt;
  if (!q || !cut.output(0).sole_use() || !is_made_redundant(r, cut, *q)) return false;
  return quantize_directly(r, quantize, cut.input(0));
}

struct relu_before_quantize {
  static constexpr std::string_view name = "ReluQuantRewrite";
  using roots = op_set<op::QuantizeLinear>;
  static bool rewrite(rewriter& r, const node_view& n) {
    return quantize_past(r, n, look::made_by<op::Relu>(r, n.input(0)));
  }
};

struct clip_before_quantize {
  static constexpr std::string_view name = "ClipQuantRewrite";
  using roots = op_set<op::QuantizeLinear>;
  static bool rewrite(rewriter& r, const node_view& n) {
    return quantize_past(r, n, look::made_by<op::Clip>(r, n.input(0)));
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

constexpr std::string_view off[] = {config_key<"session.disable_quant_qdq">.key,
                                    config_key<"session.disable_double_qdq_remover">.key};
constexpr transform_condition unless_off{.unless = std::span{off}.first(1)}, unless_either_off{.unless = off},
    if_wanted{.only_if = config_key<"session.enable_quant_qdq_cleanup">.key};

}  // namespace

const transform_table& own_dequantizers::table() {
  return transform_list<level, own_dequantizers_pass>::table<unless_off>();
}
const transform_table& double_qdq::table() {
  return transform_list<level, remove_double_pairs>::table<unless_either_off>();
}
const transform_table& qdq::table() {
  return transform_list<level, relu_before_quantize, clip_before_quantize, propagate>::table<unless_off>();
}
const transform_table& qdq_cleanup::table() { return transform_list<level, remove_rounding>::table<if_wanted>(); }

}  // namespace cameo::inline CAMEO_ABI
