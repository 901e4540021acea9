#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/partition/claimer.hpp>
#include <cameo/partition/placement.hpp>

#include <atomic>

namespace cameo::inline CAMEO_ABI {

/// A provider as partitioning sees it, without its type.
struct claim_row {
  std::string_view name, long_name;
  const void* self = nullptr;
  data_layout layout = data_layout::nchw;
  /// What it takes of a graph.
  result<std::vector<node_group>> (*groups)(const void* self, const graph_view&) = nullptr;
  /// Why it does not take a node, for people: " has no kernel for it".
  std::string (*why_not)(const void* self, const node_view&) = nullptr;
  /// Compiled nodes with one of these sources are its own: it gets each as a fused group, and no others to see.
  std::span<const context_source> sources = {};
  /// Kinds of devices that it runs nodes on; none: it tells of no devices, and no rule means it.
  device_kinds kinds = {};
};

/// Has a compiled node that is nobody's in this runtime (partition_options::keep_foreign_contexts).
inline constexpr std::int32_t foreign_provider = 0x7FFFFFFF;
/// Looks as if it had a node while a provider is asked that rules keep the node from.
inline constexpr std::int32_t withholding_provider = 0x7FFFFFFE;

/// A fused group: what its provider is to compile. `body` has the fused node's inputs and outputs, in their order;
/// constants that the group reads lie in it.
struct fused_node {
  std::string name;  // "<long name>_<group>_<n>"
  std::uint32_t provider = 0;
  graph* in = nullptr;  // where the fused node stands
  node_id node = node_id::none;
  const graph* body = nullptr;  // null: the node was compiled already, and carries its context or refers to it
};

/// What partitioning may do, and whom it asks.
struct partition_options {
  /// The body of an operator that nobody takes, or null: ONNX's own function bodies. The model keeps it.
  function_ref<result<const function*>(model&, const graph_node&)> body_of;
  /// Asked between steps; true ends with MODEL_LOAD_CANCELED.
  function_ref<bool()> canceled;
  bool allow_compile = true;                // session.disable_model_compile="0"
  bool keep_foreign_contexts = false;       // compiled nodes of unknown sources stay: for a model that is not run here
  std::string_view fused_name_prefix = {};  // ep.context_node_name_prefix
  /// Not asked for anything: the error of a compiled node without a provider names the one of these that has its
  /// source.
  std::span<const claim_row> others = {};
  /// Numbers fused groups, also those of other models that share names with this; null: from 0, of this one.
  std::atomic<std::size_t>* group_numbers = nullptr;
  /// Nodes that they give to a kind of device are kept from providers without one until the last provider that has one
  /// was asked; what that one leaves is free. Null: no node is kept from anybody. Compiled nodes never are.
  const placement_rules* rules = nullptr;
  /// Gets what each provider takes, in that order, with the names that nodes had then; nodes that are never run are
  /// left out. Null: nothing is noted.
  std::vector<ep_assignment>* assignments = nullptr;
};

/// Why provider `p` (an index into the rows) is not asked for a node, for people; empty if it is.
CAMEO_API std::string why_withheld(const placement_rules*, std::span<const claim_row>, std::size_t p, const node_view&);

/// Replaces calls of the model's own functions that no provider would take by their bodies, again and again until
/// nothing changes, so that what comes next sees the whole graph. Providers are asked only if there are such calls.
CAMEO_API status inline_functions(model&, std::span<const claim_row>, const op_table&, const partition_options&);

/// Gives every node of a checked model to the first provider that takes it, as partitioning.md section 3: fused groups
/// are replaced by one node, calls of functions that nobody takes are replaced by their bodies and offered again.
/// A provider that wants channels last is asked twice: what it takes first is moved to com.ms.internal.nhwc between
/// transposes, then it says what it really takes. Fused nodes in the order they were made.
///   INVALID_ARGUMENT            no provider
///   MODEL_REQUIRES_COMPILATION  a group would need compiling and that is not allowed
/// Compiled nodes come first: each goes to the provider that has its source among its keys.
///   NOT_IMPLEMENTED             a node that nobody takes, with each provider's reason; a compiled node of a source
///                               that nobody has
///   FAIL                        a node that was moved and then not taken; a group that is not convex, insists on a
///                               node that somebody has or that rules keep from it, or names nodes that don't exist
///   EP_FAIL                     a hook threw
CAMEO_API result<std::deque<fused_node>> partition(model&, std::span<const claim_row>, const op_table&,
                                                   const partition_options&);

}  // namespace cameo::inline CAMEO_ABI
