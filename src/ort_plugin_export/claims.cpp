// GetCapability: chooses the nodes of ONNX Runtime's graph that the provider runs.
#include <cameo/partition/convex_groups.hpp>

#include "graph/messages.hpp"
#include "ort_plugin_export/context_node.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::detail::ort {

/// True if a session can be made for the node alone. This checks functions, whose body consists of other operators, and
/// operators with subgraphs: the provider must support all of their nodes.
bool execution_provider_object::runs_alone(const ort_graph& in, const ort_node& node) const {
  result<read_graph> one = read_one(shared->ort, shared->ops, in, node);
  if (!is_possible(one.error()) || !one->obstacle().empty()) return false;
  session_options how = session;
  how.optimize = optimization_level::none;
  return is_possible(loader_of(*shared).load(std::move(one->net), how).error());
}

/// True for a graph that may be the body of a node. Before 1.24 ONNX Runtime does not say so, and confuses the groups
/// of several bodies. A graph that has no inputs, reads values of an enclosing graph, or has the first two inputs of a
/// Loop's body (an int64 and a bool) is therefore not used.
result<bool> execution_provider_object::looks_like_body(const ort_graph& g) const {
  call_sequence calls{shared->ort};
  const auto inputs = calls.list<api::Graph_GetNumInputs, api::Graph_GetInputs>(g);
  const auto has = [&](const ort_value_info* v, dtype wanted) {
    const ort_type_info* const type = v ? calls.get<api::GetValueInfoTypeInfo>(*v) : nullptr;
    const ort_tensor_info* const tensor = type ? calls.get<api::CastTypeInfoToTensorInfo>(*type) : nullptr;
    return tensor && dtype(calls.get<api::GetTensorElementType>(*tensor)) == wanted;
  };
  bool is_body = inputs.empty() || (inputs.size() > 1 && has(inputs[0], dtype::i64) && has(inputs[1], dtype::boolean));
  for (const ort_node* n : calls.list<api::Graph_GetNumNodes, api::Graph_GetNodes>(g))
    for (const ort_value_info* v : calls.list<api::Node_GetNumInputs, api::Node_GetInputs>(*n))
      is_body = is_body || (v && calls.get<api::ValueInfo_IsFromOuterScope>(*v));
  return calls.outcome() ? result<bool>{is_body} : calls.outcome();
}

/// True for the body of a node that the provider runs as a whole, and for the body of a node that can't be read: ONNX
/// Runtime may copy such bodies later (SequenceMap's), and then loses the groups in them.
result<bool> execution_provider_object::is_left_to_its_node(const ort_graph& body) const {
  const ort_node* parent = nullptr;
  if (status s = shared->ort.invoke<api::Graph_GetParentNode>(&body, &parent); !s) return s;
  if (!parent) return shared->ort.version() < 24 ? looks_like_body(body) : false;
  const result<read_graph> one = read_one(shared->ort, shared->ops, body, *parent);  // whose graph has the same opsets
  return !is_possible(one.error()) || !one->obstacle().empty() || runs_alone(body, *parent);
}

/// True if a group of the provider may contain the node. Compiled nodes and nodes with subgraphs are checked one by
/// one.
static bool is_plain(const node_view& n) { return !n.has_role(role::is_compiled_context) && n.raw().subgraphs.empty(); }

/// The groups that the provider runs. Each compiled node is a group. Groups to which the provider gave a name stay as
/// they are; all other nodes that it supports are joined into groups that are as large as possible.
result<std::vector<std::vector<node_id>>> execution_provider_object::groups(const ort_graph& in,
                                                                            const read_graph& from) {
  const graph& g = from.net->main();
  const provider_row& row = *shared->ep.row;
  const graph_view view{g};
  result<std::vector<node_group>> taken = row.groups(shared->ep.self.get(), view);
  if (!taken) return std::move(taken).error();
  enum class fate : std::uint8_t { open, single, grouped };
  std::vector<fate> fates(g.node_capacity(), fate::open);
  const auto is_open = [&](node_id n) {
    return index_of(n) < fates.size() && fates[index_of(n)] == fate::open && from.declined[index_of(n)].empty();
  };
  std::vector<std::vector<node_id>> made;
  for (node_group& each : *taken) {
    const bool is_free =
        std::all_of(each.nodes.begin(), each.nodes.end(), [&](node_id n) { return is_open(n) && is_plain({g, n}); });
    if (!is_free || each.nodes.empty()) continue;
    for (node_id n : each.nodes) fates[index_of(n)] = each.name.empty() ? fate::single : fate::grouped;
    if (!each.name.empty()) made.push_back(std::move(each.nodes));
  }
  std::vector<node_id> singles;
  for (node_view node : view.nodes()) {
    const node_id n = node.id();
    fate& its_fate = fates[index_of(n)];
    const std::string& why = from.declined[index_of(n)];
    if (is_open(n)) {
      if (is_context_of(*shared, node)) its_fate = fate::grouped, made.push_back({n});
      else if (!node.has_role(role::is_compiled_context) && runs_alone(in, *from.nodes[index_of(n)]))
        its_fate = fate::single;
    }
    if (its_fate == fate::single) singles.push_back(n);
    if (its_fate == fate::open)
      shared->ort.log(log, ort_severity::verbose,
                      fmt::format("{} leaves node '{}' ({}): {}", shared->name, node.name(), node.op_type(),
                                  why.empty() ? row.why_not(shared->ep.self.get(), node) : why));
  }
  for (std::vector<node_id>& nodes : convex_groups(view, singles)) made.push_back(std::move(nodes));
  return made;
}

status execution_provider_object::claim(const ort_graph* in, ort_support_info* to) {
  result<read_graph> from = read_whole(shared->ort, shared->ops, *in);
  if (!from) return std::move(from).error();
  if (from->nodes.empty()) return {};
  if (shared->ort.version() < 24 && !from->obstacle().empty())
    return {};  // it may be the body of such a node: see looks_like_body()
  const result<bool> left = is_left_to_its_node(*in);
  if (!left || *left) return left.error();
  if (status s = check_model(*from->net, shared->ops); !s) {
    shared->ort.log(log, ort_severity::warning,
                    fmt::format("{} takes nothing of this graph: {}", shared->name, s.words()));
    return {};
  }
  const result<std::vector<std::vector<node_id>>> found = groups(*in, *from);
  if (!found) return found.error();
  // ONNX Runtime may drop the constants of a group, unless contexts leave them in the model as inputs of the node.
  const ort_fusion_options how{shared->ort.version(), !is_weightless()};
  call_sequence calls{shared->ort};
  for (const std::vector<node_id>& each : *found) {
    std::vector<const ort_node*> group;
    for (node_id n : each) group.push_back(from->nodes[index_of(n)]);
    calls.call<ep_api::EpGraphSupportInfo_AddNodesToFuse>(to, group.data(), group.size(), &how);
  }
  return calls.outcome();
}

}  // namespace CAMEO_NAMESPACE::detail::ort
