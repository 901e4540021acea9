// Which nodes of ONNX Runtime's graph a provider takes.
#include <cameo/partition/convex_groups.hpp>

#include "graph/messages.hpp"
#include "ort_plugin_export/context_node.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::detail::ort {

/// True if a session over the node alone can be made: of an operator that has a body of others, or of one that holds
/// graphs, whose nodes all have to be the provider's.
bool execution_provider_object::runs_alone(const ort_graph& in, const ort_node& node) const {
  result<read_graph> one = read_one(shared->side, shared->ops, in, node);
  if (!is_possible(one.error()) || !one->trouble().empty()) return false;
  session_options how = session;
  how.optimize = optimization_level::none;
  return is_possible(loader_of(*shared).load(std::move(one->net), how).error());
}

/// Before 1.24 a body does not say whose it is, and ONNX Runtime mixes up what is fused in several of them: what has no
/// inputs, reads values from outside, or begins as the body of a loop does (a number and a condition) is left alone.
result<bool> execution_provider_object::looks_like_body(const ort_graph& g) const {
  questions ask{shared->side};
  const auto inputs = ask.list<api::Graph_GetNumInputs, api::Graph_GetInputs>(g);
  const auto is_of = [&](const ort_value_info* v, dtype wanted) {
    const ort_type_info* const type = v ? ask.get<api::GetValueInfoTypeInfo>(*v) : nullptr;
    const ort_tensor_info* const tensor = type ? ask.get<api::CastTypeInfoToTensorInfo>(*type) : nullptr;
    return tensor && dtype(ask.get<api::GetTensorElementType>(*tensor)) == wanted;
  };
  bool is = inputs.empty() || (inputs.size() > 1 && is_of(inputs[0], dtype::i64) && is_of(inputs[1], dtype::boolean));
  for (const ort_node* n : ask.list<api::Graph_GetNumNodes, api::Graph_GetNodes>(g))
    for (const ort_value_info* v : ask.list<api::Node_GetNumInputs, api::Node_GetInputs>(*n))
      is = is || (v && ask.get<api::ValueInfo_IsFromOuterScope>(*v));
  return ask.outcome() ? result<bool>{is} : ask.outcome();
}

/// A body of a node that the provider takes whole is left to the graph around it. So is one of a node with values that
/// can't cross: ONNX Runtime may copy such bodies later (those of SequenceMap), and loses what was fused in them.
result<bool> execution_provider_object::is_left_to_its_node(const ort_graph& body) const {
  const ort_node* parent = nullptr;
  if (status s = shared->side.ask<api::Graph_GetParentNode>(&body, &parent); !s) return s;
  if (!parent) return shared->side.version() < 24 ? looks_like_body(body) : false;
  const result<read_graph> one = read_one(shared->side, shared->ops, body, *parent);  // of the same opsets
  return !is_possible(one.error()) || !one->trouble().empty() || runs_alone(body, *parent);
}

/// Each compiled node is a group. Groups with a name are the provider's own; all other nodes that it takes are joined
/// into groups as large as can be.
result<std::vector<std::vector<node_id>>> execution_provider_object::groups(const ort_graph& in,
                                                                            const read_graph& from) {
  const graph& g = from.net->main();
  const provider_row& row = *shared->of.row;
  const graph_view view{g};
  result<std::vector<node_group>> taken = row.groups(shared->of.self.get(), view);
  if (!taken) return std::move(taken).error();
  enum class fate : std::uint8_t { open, single, grouped };
  std::vector<fate> of(g.node_capacity(), fate::open);
  std::vector<std::vector<node_id>> made;
  for (node_group& each : *taken) {
    // Nodes with graphs are asked one by one below.
    const bool is_free = std::all_of(each.nodes.begin(), each.nodes.end(), [&](node_id n) {
      return index_of(n) < of.size() && of[index_of(n)] == fate::open && from.declined[index_of(n)].empty() &&
             !node_view{g, n}.has_role(role::is_compiled_context) && g[n].subgraphs.empty();
    });
    if (!is_free || each.nodes.empty()) continue;
    for (node_id n : each.nodes) of[index_of(n)] = each.name.empty() ? fate::single : fate::grouped;
    if (!each.name.empty()) made.push_back(std::move(each.nodes));
  }
  std::vector<node_id> singles;
  for (node_view node : view.nodes()) {
    const node_id n = node.id();
    fate& its = of[index_of(n)];
    const std::string& why = from.declined[index_of(n)];
    if (its == fate::open && why.empty()) {
      if (is_context_of(*shared, node)) its = fate::grouped, made.push_back({n});
      else if (!node.has_role(role::is_compiled_context) && runs_alone(in, *from.nodes[index_of(n)]))
        its = fate::single;
    }
    if (its == fate::single) singles.push_back(n);
    if (its == fate::open)
      shared->side.log(log, ort_severity::verbose,
                       fmt::format("{} leaves node '{}' ({}): {}", shared->name, node.name(), node.op_type(),
                                   why.empty() ? row.why_not(shared->of.self.get(), node) : why));
  }
  for (std::vector<node_id>& nodes : convex_groups(view, singles)) made.push_back(std::move(nodes));
  return made;
}

status execution_provider_object::claim(const ort_graph* in, ort_support_info* to) {
  result<read_graph> from = read_whole(shared->side, shared->ops, *in);
  if (!from) return std::move(from).error();
  if (from->nodes.empty()) return {};
  if (shared->side.version() < 24 && !from->trouble().empty())
    return {};  // perhaps the body of such a node: see looks_like_body()
  const result<bool> left = is_left_to_its_node(*in);
  if (!left || *left) return left.error();
  if (status s = check_model(*from->net, shared->ops); !s) {
    shared->side.log(log, ort_severity::warning,
                     fmt::format("{} takes nothing of this graph: {}", shared->name, s.words()));
    return {};
  }
  const result<std::vector<std::vector<node_id>>> found = groups(*in, *from);
  if (!found) return found.error();
  // Constants in a group are the provider's to keep; those that it leaves in the model are inputs of the node.
  const ort_fusion_options how{shared->side.version(), !is_weightless()};
  questions ask{shared->side};
  for (const std::vector<node_id>& each : *found) {
    std::vector<const ort_node*> group;
    for (node_id n : each) group.push_back(from->nodes[index_of(n)]);
    ask.that<ep_api::EpGraphSupportInfo_AddNodesToFuse>(to, group.data(), group.size(), &how);
  }
  return ask.outcome();
}

}  // namespace CAMEO_NAMESPACE::detail::ort
