#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/partition/claimer.hpp>
#include <cameo/partition/placement.hpp>

#include <atomic>

CAMEO_BEGIN_NAMESPACE

/// A provider as partitioning sees it, without its type.
struct claim_row {
  std::string_view name, long_name;
  const void* self = nullptr;
  data_layout layout = data_layout::nchw;
  /// The groups of a graph that it takes.
  result<std::vector<node_group>> (*groups)(const void* self, const graph_view&) = nullptr;
  /// Why it does not take a node, as text for people: " has no kernel for it".
  std::string (*why_not)(const void* self, const node_view&) = nullptr;
  /// Compiled nodes with one of these sources are its own: it gets each as a fused group, and never sees any others.
  std::span<const context_source> sources = {};
  /// Kinds of devices that it runs nodes on; empty: it lists no devices, and no rule applies to it.
  detail::device_kinds kinds = {};
};

/// graph_node::provider of a compiled node of a provider that is not in this runtime (keep_foreign_contexts).
inline constexpr std::int32_t foreign_provider = 0x7FFFFFFF;
/// graph_node::provider of a node that rules keep from a provider, while that provider is called: it looks taken.
inline constexpr std::int32_t withholding_provider = 0x7FFFFFFE;

/// A fused group for its provider to compile. `body` has the fused node's inputs and outputs, in their order;
/// constants that the group reads or captures lie in it, and so do its nodes' subgraphs.
struct fused_node {
  std::string name;  // "<long name>_<group>_<n>"
  std::uint32_t provider = 0;
  graph* in = nullptr;  // the graph that has the fused node
  node_id node = node_id::none;
  const graph* body = nullptr;        // null: the node was compiled already, and has its context or refers to it
  std::vector<value_id> values = {};  // for each value of the body: the value of `in` that it was
};

/// What partitioning may do, and the functions that it calls.
struct partition_options {
  /// Returns the body of an operator that no provider takes, or null: ONNX's function bodies. The model keeps it.
  detail::function_ref<result<const function*>(model&, const detail::graph_node&)> body_of;
  /// Called between steps; true ends partitioning with MODEL_LOAD_CANCELED.
  detail::function_ref<bool()> canceled;
  bool allow_compile = true;                // session.disable_model_compile="0"
  bool keep_foreign_contexts = false;       // compiled nodes of unknown sources stay: for a model that is not run here
  std::string_view fused_name_prefix = {};  // ep.context_node_name_prefix
  /// Not called: the error of a compiled node without a provider names the one of these that has its
  /// source.
  std::span<const claim_row> others = {};
  /// Numbers fused groups, also those of other models that share names with this one; null: counts this model's from 0.
  std::atomic<std::size_t>* group_numbers = nullptr;
  /// A node that a rule gives to a kind of device is kept from providers without one until the last provider with one
  /// was called; a node that it leaves is then free. Null: no node is kept back. Compiled nodes are never kept back.
  const placement_rules* rules = nullptr;
  /// Receives what each provider takes, in that order, with the nodes' names at that time; nodes that are never run are
  /// left out. Null: not recorded.
  std::vector<ep_assignment>* assignments = nullptr;
};

/// Why provider `p` (an index into the rows) is not called for a node, as text for people; empty if it is.
CAMEO_API std::string why_withheld(const placement_rules*, std::span<const claim_row>, std::size_t p, const node_view&);

/// Replaces calls of the model's own functions that no provider would take by their bodies, again and again until
/// nothing changes, so that later stages see the whole graph. Providers are called only if there are such calls.
CAMEO_API status inline_functions(model&, std::span<const claim_row>, const op_table&, const partition_options&);

/// Assigns every node of a checked model to the first provider that takes it: fused groups are replaced by one node;
/// calls of functions that no provider takes are replaced by their bodies, whose nodes are then offered again.
/// A provider that wants channels last is called twice: the nodes that it takes first are moved to com.ms.internal.nhwc
/// between transposes, then it decides which it takes. Returns the fused nodes in the order they were made.
///   INVALID_ARGUMENT            no provider
///   MODEL_REQUIRES_COMPILATION  a group would have to be compiled and that is not allowed
/// Compiled nodes come first: each goes to the provider that has its `source` in its list.
///   NOT_IMPLEMENTED             a node that no provider takes, with each provider's reason; a compiled node with a
///                               source that no provider has
///   FAIL                        a node that was moved and then not taken; a group that is not convex, insists on a
///                               node that is assigned already or that rules keep from it (subgraphs of its nodes
///                               count), or names unknown nodes
///   EP_FAIL                     a hook threw
CAMEO_API result<std::vector<fused_node>> partition(model&, std::span<const claim_row>, const op_table&,
                                                    const partition_options&);

CAMEO_END_NAMESPACE
