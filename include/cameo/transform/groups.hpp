#pragma once
#include <cameo/transform/rewriter.hpp>

CAMEO_BEGIN_NAMESPACE

// Rewrites in two halves. The first selects: a node and those around it, which one new node can replace. The second
// replaces them. Between the halves the selection can be saved in an ORT file (graph::saved_optimizations), for a
// program that knows which kernels it has. A group rewrite is a type with
//
//   static constexpr std::string_view name = "QDQSelectorActionTransformer";    the optimizer's name in files
//   using roots = op_set<op::Conv, ...>;
//   static bool select(const rewriter&, const node_view& target, const group_policy&, rewrite_group&);
//   static bool replace(edit&, const rewriter&, const rewrite_group&);          adds nodes and calls edit::replace
//
// and is listed in a transform_list. Actions, and how they make the new node, are rows of op/group_actions.hpp.

/// Nodes that one node can replace.
struct rewrite_group {
  std::string_view action;      // one of the optimizer's actions
  std::vector<node_id> inputs;  // nodes that produce the target's inputs, in its order; `none`: absent
  node_id target = node_id::none;
  std::vector<node_id> outputs;     // nodes that read its outputs
  node_id between = node_id::none;  // one between target and output that changes nothing, and is removed as well
  bool variadic_input = false;      // `inputs` are those of one variadic parameter
  bool variadic_output = false;     // `outputs` likewise
};

/// What select() may select.
struct group_policy {
  bool signed_activations = false;  // products of int8 by int8, which are slow or imprecise on some processors
};

/// An operator that a transform puts into a graph.
struct made_op {
  std::string_view domain, name;
  detail::op_id at{};  // only where there is a root of this operator; 0: of any
};

/// A group rewrite without its type.
struct group_row {
  std::string_view name;
  std::span<const detail::op_id> roots;
  bool (*select)(const rewriter&, const node_view&, const group_policy&, rewrite_group&);
  bool (*replace)(edit&, const rewriter&, const rewrite_group&);
  std::span<const made_op> makes = {};  // as of other transforms
  std::span<const detail::op_id> needs = {};
};

/// Selects groups around nodes of its `roots`, and replaces what was selected.
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

/// What is done with groups.
enum class group_mode : std::uint8_t {
  record,  // they are selected, and stored as graph::saved_optimizations
  replace  // they are selected and replaced
};
/// Selects groups in a graph and its subgraphs. `record` does not change the graph except for its list of saved
/// optimizations, to which the groups are added that can be replaced here because the provider takes the new node.
/// True if something was recorded or replaced.
CAMEO_API result<bool> apply_groups(graph&, std::span<const transform_table* const> tables,
                                    const rewriter::surroundings&, const transform_options&, const group_policy&,
                                    group_mode);

/// Applies the saved optimizations of a graph and its subgraphs where this is correct: a record is skipped
/// if its nodes are gone, if the graph around them is not what it was made for, or if no provider takes the new node.
/// Records of optimizers that the tables don't have stay; all others are removed. True if the graph changed.
/// FAIL for an action that the optimizer does not have, or one that makes other operators than the record says.
CAMEO_API result<bool> replay_groups(graph&, std::span<const transform_table* const> tables,
                                     const rewriter::surroundings&, const transform_options&);

CAMEO_END_NAMESPACE
