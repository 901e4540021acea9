#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/partition/claimer.hpp>
#include <cameo/partition/placement.hpp>

#include <atomic>

namespace CAMEO_NAMESPACE {

/// A provider with its type erased, for partitioning.
struct claim_row {
  std::string_view name, long_name;
  const void* self = nullptr;
  data_layout layout = data_layout::nchw;
  /// The groups of a graph that the provider takes.
  result<std::vector<node_group>> (*groups)(const void* self, const graph_view&) = nullptr;
  /// Returns why the provider does not take a node, as text that follows the provider's name in a message: " has no
  /// kernel for it".
  std::string (*why_not)(const void* self, const node_view&) = nullptr;
  /// The values of the attribute `source` that mark compiled nodes as the provider's. The provider gets each such node
  /// as a fused group, and no other compiled nodes.
  std::span<const context_source> sources = {};
  /// The kinds of devices on which the provider runs nodes. Empty if the provider lists no devices; then placement
  /// rules do not apply to it.
  detail::device_kinds kinds = {};
};

/// graph_node::provider of a compiled node whose provider is not in this runtime (keep_external_contexts).
inline constexpr std::int32_t external_provider = 0x7FFFFFFF;
/// graph_node::provider of a node that rules withhold from a provider, during calls of that provider: the node seems
/// assigned.
inline constexpr std::int32_t withholding_provider = 0x7FFFFFFE;

/// A fused group for its provider to compile. `body` has the fused node's inputs and outputs, in their order. Constants
/// that the group reads or captures, and subgraphs of its nodes, belong to the body.
struct fused_node {
  std::string name;  // "<long name>_<group>_<n>"
  std::uint32_t provider = 0;
  graph* in = nullptr;  // the graph with the fused node
  node_id node = node_id::none;
  const graph* body = nullptr;        // null: the node was compiled before, and has its context or refers to it
  std::vector<value_id> values = {};  // for each value of the body, the value of `in` that it was
};

/// The options of partitioning, and functions that it calls.
struct partition_options {
  /// Returns ONNX's function body of an operator that no provider takes, or null. The model keeps it.
  detail::function_ref<result<const function*>(model&, const detail::graph_node&)> body_of;
  /// Called between steps; true ends partitioning with MODEL_LOAD_CANCELED.
  detail::function_ref<bool()> canceled;
  bool allow_compile = true;                // session.disable_model_compile="0"
  bool keep_external_contexts = false;      // compiled nodes of unknown sources stay, for a model that is only written
  std::string_view fused_name_prefix = {};  // ep.context_node_name_prefix
  /// Providers that are not in this runtime. They are never called. If a compiled node belongs to one of them, the
  /// error names that provider.
  std::span<const claim_row> others = {};
  /// The counter from which fused groups get the numbers in their names. Models that must not use the same names share
  /// one counter. Null: the groups of this model are numbered from 0.
  std::atomic<std::size_t>* group_numbers = nullptr;
  /// The rules that assign nodes to kinds of devices. Such a node is not offered to providers without a device of that
  /// kind until all providers with one were called; then every provider may take it. Compiled nodes are not subject to
  /// the rules. Null: no rules.
  const placement_rules* rules = nullptr;
  /// Receives what each provider takes, in order, with the names that the nodes then have. Nodes that never run are
  /// left out. Null: not recorded.
  std::vector<ep_assignment>* assignments = nullptr;
};

/// Returns, for display, why provider `p` (an index into the rows) is not offered a node; empty if it is offered.
CAMEO_API std::string why_withheld(const placement_rules*, std::span<const claim_row>, std::size_t p, const node_view&);

/// Replaces calls of the model's functions that no provider takes by their bodies, until nothing changes, so that later
/// stages have the whole graph. Providers are called only if there are such calls.
CAMEO_API status inline_functions(model&, std::span<const claim_row>, const op_table&, const partition_options&);

/// Assigns every node of a checked model to the first provider that takes it. Fused groups are replaced by one node.
/// Calls of functions that no provider takes are replaced by their bodies, whose nodes are then offered again. A
/// provider that requests channels last is called twice: the nodes that it takes first are moved to
/// com.ms.internal.nhwc between transposes, then it decides which of these it takes. Compiled nodes are assigned first:
/// each to the provider with its `source`. Returns the fused nodes in the order in which they were made.
///   INVALID_ARGUMENT            no provider
///   MODEL_REQUIRES_COMPILATION  a group would have to be compiled, which is not allowed
///   NOT_IMPLEMENTED             a node that no provider takes, with each provider's reason; a compiled node with a
///                               source that no provider has
///   FAIL                        a node that was moved and then not taken; a group that is not convex, insists on a
///                               node that is already assigned or withheld from it (subgraphs of its nodes count), or
///                               names unknown nodes
///   EP_FAIL                     a hook threw an exception
CAMEO_API result<std::vector<fused_node>> partition(model&, std::span<const claim_row>, const op_table&,
                                                    const partition_options&);

}  // namespace CAMEO_NAMESPACE
