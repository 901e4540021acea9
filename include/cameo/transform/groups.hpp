#pragma once
#include <cameo/transform/rewriter.hpp>

namespace CAMEO_NAMESPACE {

// Group rewrites have two halves. The first half selects a group: a node and nodes around it, all of which one new node
// can replace. The second half replaces the group. Between them, the selection can be saved in an ORT file
// (graph::saved_optimizations) for a program with other kernels. A group rewrite is a type with
//
//   static constexpr std::string_view name = "QDQSelectorActionTransformer";    the optimizer's name in files
//   using roots = op_set<op::Conv, ...>;
//   static bool select(const rewriter&, const node_view& target, const group_policy&, rewrite_group&);
//   static bool replace(edit&, const rewriter&, const rewrite_group&);          adds nodes and calls edit::replace
//
// in a transform_list. Actions, and how they make the new node, are rows of op/group_actions.hpp.

/// Nodes that one new node can replace.
struct rewrite_group {
  std::string_view action;      // one of the optimizer's actions
  std::vector<node_id> inputs;  // producers of the target's inputs, in their order; `none`: absent
  node_id target = node_id::none;
  std::vector<node_id> outputs;    // readers of the target's outputs
  node_id middle = node_id::none;  // a node between target and output that changes nothing; it is removed, too
  bool variadic_input = false;     // `inputs` are arguments of one variadic parameter
  bool variadic_output = false;    // `outputs` are arguments of one variadic parameter
};

/// Restrictions on the groups that select() may select.
struct group_policy {
  bool signed_activations = false;  // also select products of int8 by int8; some processors are slow or imprecise there
};

/// An operator of which a transform makes nodes.
struct made_op {
  std::string_view domain, name;
  detail::op_id at{};  // made only for roots of this operator; 0: for any root
};

/// A group rewrite with its type erased.
struct group_row {
  std::string_view name;
  std::span<const detail::op_id> roots;
  bool (*select)(const rewriter&, const node_view&, const group_policy&, rewrite_group&);
  bool (*replace)(edit&, const rewriter&, const rewrite_group&);
  std::span<const made_op> makes = {};  // as for other transforms
  std::span<const detail::op_id> needs = {};
};

/// A type that selects groups around nodes of its `roots`, and replaces the selected groups.
template <class T>
concept group_rewrite =
    requires(const rewriter& r, const node_view& n, const group_policy& p, rewrite_group& g, edit& e) {
      { T::name } -> std::convertible_to<std::string_view>;
      { std::span<const detail::op_id>{T::roots::ids} };
      { T::select(r, n, p, g) } -> std::same_as<bool>;
      { T::replace(e, r, g) } -> std::same_as<bool>;
    };

struct transform_table;
struct transform_options;

/// The action of apply_groups() on the groups that it selects.
enum class group_mode : std::uint8_t {
  record,  // stores them as graph::saved_optimizations
  replace  // replaces them
};
/// Selects groups in a graph and its subgraphs. `record` changes only the list of saved optimizations: it adds the
/// groups that can be replaced here because the provider takes the new node. Returns true if something was recorded or
/// replaced.
CAMEO_API result<bool> apply_groups(graph&, std::span<const transform_table* const> tables,
                                    const rewriter::surroundings&, const transform_options&, const group_policy&,
                                    group_mode);

/// Applies the saved optimizations of a graph and its subgraphs where this is correct. A record is skipped if its nodes
/// are gone, if the graph around them is not what it was made for, or if no provider takes the new node. Records of
/// optimizers that are not in the tables stay; all others are removed. Returns true if the graph changed. FAIL for an
/// action that the optimizer does not have, or that makes other operators than the record lists.
CAMEO_API result<bool> replay_groups(graph&, std::span<const transform_table* const> tables,
                                     const rewriter::surroundings&, const transform_options&);

}  // namespace CAMEO_NAMESPACE
