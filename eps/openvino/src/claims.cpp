#include "claims.hpp"

#include "onnx_part.hpp"

#include <cameo/graph/model.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

/// The largest constant, in bytes, that the SDK gets with its elements. Larger ones are weights, of which only the type
/// and the shape matter for whether the SDK supports a node.
constexpr std::size_t largest_constant = std::size_t{1} << 14;
/// The most nodes in one query: the time that the SDK takes grows faster than the number of nodes.
constexpr std::size_t nodes_per_query = 512;

template <class... Ops>
bool is_any_of(const node_view& node) {
  return (node.has_op<Ops>() || ...);
}

using node_ref = const node_view&;
/// The nodes that version 2025.4 of the SDK reads without an error, but does not compute as ONNX specifies.
constexpr struct {
  bool (*is_op)(node_ref);
  bool (*is_misread)(node_ref);
} misread_nodes[] = {
    // Newer versions of operators are read as older ones.
    {[](node_ref n) { return n.domain().empty(); }, [](node_ref n) { return n.since() > 22; }},
    {is_any_of<op::BitShift, op::DFT>, [](node_ref) { return true; }},
    {is_any_of<op::Pad>, [](node_ref n) { return bool(n.input(3)); }},  // axes
    {is_any_of<op::Tile>,                                               // repeats that are not a constant of the group
     [](node_ref n) {
       const value_view repeats = n.input(1);
       return !repeats || !repeats.constant() || repeats.is_graph_input() || repeats.is_capture();
     }},
    {is_any_of<op::ReduceMax, op::ReduceMin>,  // infinities become the largest finite number
     [](node_ref n) {
       const dtype type = n.input(0).element();
       return type == dtype::f32 || type == dtype::f16 || type == dtype::bf16;
     }},
    {is_any_of<op::Reshape>, [](node_ref n) { return n.attributes<op::Reshape>().allowzero != 0; }},
    {is_any_of<op::RoiAlign>,
     [](node_ref n) { return n.attributes<op::RoiAlign>().mode == op::roi_align_mode_choice::max; }},
    {is_any_of<op::DequantizeLinear, op::QuantizeLinear>,
     [](node_ref n) { return n.attributes<op::QuantizeLinear>().block_size != 0; }},
    {is_any_of<op::LSTM>, [](node_ref n) { return bool(n.input(7)); }},  // peepholes
    {is_any_of<op::LSTM, op::GRU, op::RNN>, [](node_ref n) { return n.attributes<op::RNN>().layout != 0; }},
    {is_any_of<op::Resize>,
     [](node_ref n) {
       constexpr auto align_corners = op::resize_coordinate_transformation_mode_choice::align_corners;
       const auto a = n.attributes<op::Resize>();
       return a.antialias != 0 || a.exclude_outside != 0 ||
              a.keep_aspect_ratio_policy != op::keep_aspect_ratio_policy_choice::stretch ||
              (n.input(2) && a.coordinate_transformation_mode == align_corners);
     }},
};

/// The ranks and dims of a part's outputs in the encoding of the helper library: -1 for an unknown one.
std::vector<std::int64_t> shapes_of(const graph_part& part) {
  std::vector<std::int64_t> all;
  for (value_id v : part.outputs) {
    const value_type* const type = (*part.source)[v].type;
    if (!type || !type->shape) {
      all.push_back(-1);
      continue;
    }
    all.push_back(std::int64_t(type->shape->size()));
    for (const dim d : *type->shape) all.push_back(d.known() ? d.size : -1);
  }
  return all;
}

bool known_tensor(const value_view& v) {
  return !v || (v.type() && v.type()->is_tensor() && element_type_of(v.element()) != ov_element_type_e::DYNAMIC);
}

/// True for a node that is unassigned, of a version in the model's opset, on plain tensors, with an input that is not
/// known before a run.
bool may_run(const node_view& node) {
  if (node.provider() >= 0 || !node.op() || !node.raw().version || !node.subgraphs().empty()) return false;
  const std::int64_t opset = node.in().owner().opset(node.domain());
  if (node.op()->at(opset) != node.raw().version) return false;
  for (const auto& each : misread_nodes)
    if (each.is_op(node) && each.is_misread(node)) return false;
  bool reads = false;
  for (const value_view in : node.inputs()) {
    if (!known_tensor(in)) return false;
    reads |= in && !node.in().constant_of(in.id());
  }
  for (const value_view out : node.outputs())
    if (!known_tensor(out)) return false;
  return reads;
}

/// Finds the nodes that the SDK supports: queries all nodes at once, and each half separately if the SDK rejects them.
class node_query {
 public:
  node_query(const sdk& api, const graph& g, const std::string& device)
      : sdk_{api}, graph_{g}, device_{device}, place_(g.node_capacity()) {
    for (std::size_t i = 0; i < g.order().size(); ++i) place_[index_of(g.order()[i])] = i;
  }

  status find_runnable(std::span<const node_id> nodes, std::vector<node_id>& taken) const {
    if (nodes.empty()) return {};
    const graph_part part = part_of(graph_, in_order(nodes), largest_constant);
    const result<std::string> bytes = onnx_bytes(part);
    if (!bytes && bytes.error().code() == status_code::out_of_memory) return bytes.error();
    if (bytes && sdk_.can_run(*bytes, device_, shapes_of(part))) {
      taken.insert(taken.end(), nodes.begin(), nodes.end());
      return {};
    }
    if (nodes.size() == 1) return {};
    const std::size_t half = nodes.size() / 2;
    if (status s = find_runnable(nodes.first(half), taken); !s) return s;
    return find_runnable(nodes.subspan(half), taken);
  }

  std::vector<node_id> in_order(std::span<const node_id> nodes) const {
    std::vector<node_id> made{nodes.begin(), nodes.end()};
    std::sort(made.begin(), made.end(),
              [&](node_id a, node_id b) { return place_[index_of(a)] < place_[index_of(b)]; });
    return made;
  }

 private:
  const sdk& sdk_;
  const graph& graph_;
  const std::string& device_;
  std::vector<std::size_t> place_;  // by node: its position in the order of execution
};

}  // namespace

ov_element_type_e element_type_of(dtype type) {
  switch (type) {
    case dtype::boolean: return ov_element_type_e::BOOLEAN;
    case dtype::bf16: return ov_element_type_e::BF16;
    case dtype::f16: return ov_element_type_e::F16;
    case dtype::f32: return ov_element_type_e::F32;
    case dtype::i8: return ov_element_type_e::I8;
    case dtype::i16: return ov_element_type_e::I16;
    case dtype::i32: return ov_element_type_e::I32;
    case dtype::i64: return ov_element_type_e::I64;
    case dtype::u8: return ov_element_type_e::U8;
    case dtype::u16: return ov_element_type_e::U16;
    case dtype::u32: return ov_element_type_e::U32;
    case dtype::u64: return ov_element_type_e::U64;
    default: return ov_element_type_e::DYNAMIC;  // for example float64, which would be computed in float32
  }
}

result<std::vector<node_id>> runnable_nodes(const sdk& api, const graph_view& g, const std::string& device) {
  std::vector<node_id> candidates, taken;
  for (const node_view node : g.nodes())
    if (may_run(node)) candidates.push_back(node.id());
  const node_query query{api, g.raw(), device};
  for (std::size_t at = 0; at < candidates.size(); at += nodes_per_query) {
    const std::span<node_id> slice{candidates.data() + at, std::min(nodes_per_query, candidates.size() - at)};
    // Sorting by operator keeps the number of queries small if the SDK does not support an operator.
    std::stable_sort(slice.begin(), slice.end(), [&](node_id a, node_id b) {
      return std::pair{g.raw()[a].domain, g.raw()[a].op_type} < std::pair{g.raw()[b].domain, g.raw()[b].op_type};
    });
    if (status s = query.find_runnable(slice, taken); !s) return s;
  }
  return query.in_order(taken);
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
