#include "claims.hpp"

#include "onnx_part.hpp"

#include <cameo/graph/model.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps::openvino_detail {
namespace {

/// Constants that an operator's meaning may depend on are smaller; weights are asked about by their type and shape.
constexpr std::size_t largest_constant = std::size_t{1} << 14;
/// Nodes in one question: the SDK's time for an answer grows faster than the graph.
constexpr std::size_t most_asked = 512;

std::int64_t int_of(const node_view& node, std::string_view name) {
  const attribute* const a = node.find(name);
  return a && a->kind == attribute_kind::i ? a->i : 0;
}
bool says(const node_view& node, std::string_view name, std::string_view words) {
  const attribute* const a = node.find(name);
  return a && a->kind == attribute_kind::s && a->s == words;
}

/// What version 2025.4 of the SDK reads without complaint and then computes otherwise than ONNX says.
bool is_misread(const node_view& node) {
  if (node.domain().empty() && node.since() > 22) return true;  // newer operators are taken for what they were before
  if (node.has_op<op::BitShift>() || node.has_op<op::DFT>()) return true;
  if (node.has_op<op::Pad>()) return bool(node.input(3));  // axes
  if (node.has_op<op::Tile>()) {                           // repeats that are no constant of the group
    const value_view repeats = node.input(1);
    return !repeats || !repeats.constant() || repeats.is_graph_input() || repeats.is_capture();
  }
  if (node.has_op<op::ReduceMax>() ||
      node.has_op<op::ReduceMin>()) {  // of infinities it makes the largest finite number
    const dtype type = node.input(0).element();
    return type == dtype::f32 || type == dtype::f16 || type == dtype::bf16;
  }
  if (node.has_op<op::Reshape>()) return int_of(node, "allowzero") != 0;
  if (node.has_op<op::RoiAlign>()) return says(node, "mode", "max");
  if (node.has_op<op::DequantizeLinear>() || node.has_op<op::QuantizeLinear>()) return int_of(node, "block_size") != 0;
  if (node.has_op<op::LSTM>() && node.input(7)) return true;  // peepholes
  if (node.has_op<op::LSTM>() || node.has_op<op::GRU>() || node.has_op<op::RNN>()) return int_of(node, "layout") != 0;
  if (node.has_op<op::Resize>())
    return int_of(node, "antialias") != 0 || int_of(node, "exclude_outside") != 0 ||
           says(node, "keep_aspect_ratio_policy", "not_larger") ||
           says(node, "keep_aspect_ratio_policy", "not_smaller") ||
           (node.input(2) && says(node, "coordinate_transformation_mode", "align_corners"));
  return false;
}

/// Ranks and dims of a part's outputs as the helper library reads them: -1 for what is not known.
std::vector<std::int64_t> shapes_of(const graph_part& part) {
  std::vector<std::int64_t> all;
  for (value_id v : part.outputs) {
    const value_type* const type = (*part.of)[v].type;
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
bool may_ask_for(const node_view& node) {
  if (node.provider() >= 0 || !node.op() || !node.raw().version || !node.subgraphs().empty()) return false;
  const std::int64_t opset = node.in().owner().opset(node.domain());
  if (node.op()->at(opset) != node.raw().version || is_misread(node)) return false;
  bool reads = false;
  for (const value_view in : node.inputs()) {
    if (!known_tensor(in)) return false;
    reads |= in && !node.in().constant_of(in.id());
  }
  for (const value_view out : node.outputs())
    if (!known_tensor(out)) return false;
  return reads;
}

/// Asks about all nodes at once, and where the answer is no, about halves.
class question {
 public:
  question(const sdk& api, const graph& g, const std::string& device)
      : sdk_{api}, graph_{g}, device_{device}, place_(g.node_capacity()) {
    for (std::size_t i = 0; i < g.order().size(); ++i) place_[index_of(g.order()[i])] = i;
  }

  status ask(std::span<const node_id> nodes, std::vector<node_id>& taken) const {
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
    if (status s = ask(nodes.first(half), taken); !s) return s;
    return ask(nodes.subspan(half), taken);
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
  std::vector<std::size_t> place_;  // of nodes in order of execution
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
    default: return ov_element_type_e::DYNAMIC;  // float64 among them: it would be computed in float32
  }
}

result<std::vector<node_id>> runnable_nodes(const sdk& api, const graph_view& g, const std::string& device) {
  std::vector<node_id> asked, taken;
  for (const node_view node : g.nodes())
    if (may_ask_for(node)) asked.push_back(node.id());
  const question sdks{api, g.raw(), device};
  for (std::size_t at = 0; at < asked.size(); at += most_asked) {
    const std::span<node_id> slice{asked.data() + at, std::min(most_asked, asked.size() - at)};
    // Nodes of one operator side by side: if the SDK does not have it, halves that are refused hold no others.
    std::stable_sort(slice.begin(), slice.end(), [&](node_id a, node_id b) {
      return std::pair{g.raw()[a].domain, g.raw()[a].op_type} < std::pair{g.raw()[b].domain, g.raw()[b].op_type};
    });
    if (status s = sdks.ask(slice, taken); !s) return s;
  }
  return sdks.in_order(taken);
}

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
