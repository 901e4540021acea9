#pragma once
#include <cameo/transform/rewriter.hpp>

namespace cameo::inline CAMEO_ABI {

// Rewrites in two halves. The first chooses: a node and those around it, which one new node could stand for. The second
// replaces them. Between the halves the choice can be saved in an ORT file (graph::saved_optimizations), for a program
// that knows better what it has kernels for. A group rewrite is a type with
//
//   static constexpr std::string_view name = "QDQSelectorActionTransformer";    as files call the optimizer
//   using roots = op_set<op::Conv, ...>;
//   static bool select(const rewriter&, const node_view& target, const group_policy&, rewrite_group&);
//   static bool replace(edit&, const rewriter&, const rewrite_group&);             adds nodes and says what they
//   replace
//
// and stands in a transform_list. Actions, and how they put the new node together, are rows of op/group_actions.hpp.

/// Nodes that one node could stand for.
struct rewrite_group {
  std::string_view action;      // which of the optimizer's
  std::vector<node_id> inputs;  // nodes that make the target's inputs, in its order; `none`: absent
  node_id target = node_id::none;
  std::vector<node_id> outputs;     // nodes that read its outputs
  node_id between = node_id::none;  // one between target and output that changes nothing, and goes as well
  bool variadic_input = false;      // `inputs` are those of one variadic parameter
  bool variadic_output = false;     // `outputs` likewise
};

/// What select() may choose.
struct group_policy {
  bool signed_activations = false;  // products of int8 by int8, which are slow or imprecise on some processors
};

struct made_op;

/// A group rewrite without its type.
struct group_row {
  std::string_view name;
  std::span<const op_id> roots;
  bool (*select)(const rewriter&, const node_view&, const group_policy&, rewrite_group&);
  bool (*replace)(edit&, const rewriter&, const rewrite_group&);
  std::span<const made_op> makes = {};  // as other transforms say it
  std::span<const op_id> needs = {};
};

/// Chooses groups around nodes of its `roots`, and replaces what was chosen.
template <class T>
concept group_rewrite = requires(const rewriter& r, const node_view& n, const group_policy& p, rewrite_group& g,
                                 edit& e) {
  { T::name } -> std::convertible_to<std::string_view>;
  {std::span<const op_id>{T::roots::ids}};
  { T::select(r, n, p, g) } -> std::same_as<bool>;
  { T::replace(e, r, g) } -> std::same_as<bool>;
};

struct transform_table;
struct transform_options;

/// What becomes of groups.
enum class group_mode : std::uint8_t {
  record,  // they are chosen, and kept as graph::saved_optimizations
  replace  // they are chosen and replaced
};
/// Chooses groups in a graph and its subgraphs. `record` leaves the graph as it is but for its list of saved
/// optimizations, to which what is chosen is added: what can be replaced here, as the provider takes the new node.
/// True if something was recorded or replaced.
CAMEO_API result<bool> apply_groups(graph&, std::span<const transform_table* const> tables,
                                    const rewriter::surroundings&, const transform_options&, const group_policy&,
                                    group_mode);

/// Does what the saved optimizations of a graph and its subgraphs say, as far as it is right: a record is passed over
/// if its nodes have gone, if the graph around them is not what it was made for, or if nobody takes the new node.
/// Records of optimizers that the tables don't have are left; all others leave the list. True if the graph changed.
/// FAIL for an action that the optimizer does not have, or one that makes other operators than the record says.
CAMEO_API result<bool> replay_groups(graph&, std::span<const transform_table* const> tables,
                                     const rewriter::surroundings&, const transform_options&);

}  // namespace cameo::inline CAMEO_ABI
