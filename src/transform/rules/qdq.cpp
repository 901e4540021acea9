// Removes QuantizeLinear and DequantizeLinear that do not change integers, and moves the others next to nodes that
// compute.
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/standard.hpp>

#include "core/config_keys.hpp"
#include "transform/rules/look.hpp"
#include "transform/rules/quantization.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// Gives each reader a separate DequantizeLinear, so that both can become one node.
struct own_dequantizers_pass {
  static constexpr std::string_view name = "EnsureUniqueDQForNodeUnit";

  static result<bool> run(rewriter& r) {
    graph& g = r.in();
    bool changed = false;
    std::vector<node_id> all;
    for (node_id id : g.order())
      if (r.may_touch(r.node(id)) && r.node(id).has_op<op::DequantizeLinear>()) all.push_back(id);
    for (node_id id : all) {
      const value_view v = r.node(id).output(0);
      if (v.use_count() < 2 && !(v.use_count() == 1 && v.is_graph_output())) continue;
      std::vector<graph::use> uses;
      for (graph::use u : g.uses(v.id()))
        if (u.position < g[u.node].input_count) uses.push_back(u);
      // A subgraph, the caller or the first reader keeps the node.
      const bool is_taken = v.is_graph_output() || uses.size() < v.use_count();
      for (std::size_t i = is_taken ? 0 : 1; i < uses.size(); ++i, changed = true)
        g.set_input(uses[i].node, uses[i].position, copy(r, id));
    }
    return changed;
  }

 private:
  static value_id copy(rewriter& r, node_id id) {
    graph& g = r.in();
    const detail::graph_node from = g[id];
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

using namespace pattern;

bool same_quantization(const match_result& m, const node_view& first, const node_view& second) {
  const std::optional<quantization> p = quantization_of(*m.in, first);
  const std::optional<quantization> q = p ? quantization_of(*m.in, second) : std::nullopt;
  return q && same(*p, *q);
}
/// DequantizeLinear, then the same QuantizeLinear: the integers stay the same.
constexpr rule double_pair{
    "DoubleQDQPairsRemover",
    name(n0, match<op::QuantizeLinear>(name(n1, match<op::DequantizeLinear>(x, others)), others)), x,
    when(check<same_quantization>(n1, n0))};
/// QuantizeLinear, then DequantizeLinear: floats are only rounded.
constexpr rule rounding{
    "QDQFinalCleanupTransformer",
    name(n0, match<op::DequantizeLinear>(name(n1, sole_use(match<op::QuantizeLinear>(x, others))), others)), x,
    when(check<same_quantization>(n1, n0))};

/// True for an activation whose bounds include all that the integers can represent.
bool cuts_nothing(const match_result& m, const node_view& cut, const node_view& quantize) {
  const std::optional<quantization> q = quantization_of(*m.in, quantize);
  return q && is_made_redundant(*m.in, cut, *q);
}
template <declared_op Cut>
constexpr auto quantized_past(const char* called) {
  return rule{called, name(n0, match<op::QuantizeLinear>(name(n1, sole_use(match<Cut>(x, others))), others)),
              again(n0, x), when(check<cuts_nothing>(n1, n0))};
}
constexpr auto relu_before_quantize = quantized_past<op::Relu>("ReluQuantRewrite");
constexpr auto clip_before_quantize = quantized_past<op::Clip>("ClipQuantRewrite");

// Nodes that move elements, or select the larger ones, act alike on integers and on the floats that these represent.
bool can_take_integers(const match_result& m, const node_view& n, const node_view& quantizes) {
  const std::optional<quantization> q = quantization_of(*m.in, quantizes);
  if (!q || !q->whole_tensor()) return false;
  return !n.has_op<op::MaxPool>() || (n.since() >= 12 && (q->type == dtype::i8 || q->type == dtype::u8));
}
/// True for a value with a separate DequantizeLinear for each reader.
bool is_read_once(const match_result&, const node_view& n) {
  const value_view out = n.output(0);
  return out.use_count() + (out.is_graph_output() ? 1u : 0u) == 1;
}
constexpr rule dequantize_later{
    "QDQPropagationTransformer",
    name(n0,
         match<op::Reshape, op::Transpose, op::Squeeze, op::Unsqueeze, op::Flatten, op::Slice, op::Gather, op::MaxPool>(
             name(n1, sole_use(match<op::DequantizeLinear>(x, others))), others)),
    again(n1, again(n0, x)), when(check<can_take_integers>(n0, n1), check<is_read_once>(n0))};

// Constants were quantized before; Slice and Gather would quantize more elements than before.
constexpr rule quantize_earlier{
    "QDQPropagationTransformer",
    name(n0,
         match<op::QuantizeLinear>(
             name(n1, sole_use(match<op::Reshape, op::Transpose, op::Squeeze, op::Unsqueeze, op::Flatten, op::MaxPool>(
                          x, others))),
             others)),
    again(n1, again(n0, x)), when(check<look::is_computed>(x), check<can_take_integers>(n1, n0))};

constexpr key_condition off_keys[] = {{config_key<"session.disable_quant_qdq">.key},
                                      {config_key<"session.disable_double_qdq_remover">.key}};
constexpr key_condition cleanup[] = {{config_key<"session.enable_quant_qdq_cleanup">.key}};
constexpr transform_condition unless_off{.excluded = std::span{off_keys}.first(1)},
    unless_either_off{.excluded = off_keys}, if_wanted{.required = cleanup};

}  // namespace

const transform_table& rules::own_dequantizers::table() {
  return transform_list<level, own_dequantizers_pass>::table<unless_off>();
}
const transform_table& rules::double_qdq::table() {
  return transform_list<level, rule_of<double_pair>>::table<unless_either_off>();
}
const transform_table& rules::qdq::table() {
  return transform_list<level, rule_of<relu_before_quantize>, rule_of<clip_before_quantize>, rule_of<dequantize_later>,
                        rule_of<quantize_earlier>>::table<unless_off>();
}
const transform_table& rules::qdq_cleanup::table() {
  return transform_list<level, rule_of<rounding>>::table<if_wanted>();
}

}  // namespace CAMEO_NAMESPACE
