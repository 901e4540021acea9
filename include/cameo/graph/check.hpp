#pragma once
#include <cameo/graph/graph.hpp>

namespace cameo::inline CAMEO_ABI {

/// The operators that a program knows: the standard ones and those its providers declare, each sorted by id.
struct op_table {
  std::span<const op_row> standard = standard_ops();
  std::vector<std::span<const op_row>> more = {};

  /// Null if nobody declares it.
  CAMEO_API const op_row* find(std::string_view domain, std::string_view name) const;
  /// True if some operator is of this domain.
  CAMEO_API bool knows_domain(std::string_view domain) const;
};

/// Checks a whole model and resolves it: every node gets its operator and version or its function; names are unique
/// and defined, arities, attributes and element types are what the operator's version allows, no cycles, no function
/// that calls itself; then sorts every graph and infers types and shapes. On success types of all values that could be
/// inferred are set, and disagreements between declared and inferred ones are INVALID_GRAPH.
///   INVALID_ARGUMENT  a name that nobody defines, an empty graph
///   INVALID_GRAPH     all else that is wrong with known operators
///   FAIL              an operator of a domain that nobody declares
CAMEO_API status check_model(model&, const op_table&);

/// What is known of the elements of small integer tensors (rank 0 or 1), by the number of their value: shapes that are
/// worked out from other shapes.
using known_elements = std::unordered_map<std::uint32_t, std::vector<dim>>;

/// Infers types and shapes of one graph and its subgraphs again, after a change; sort() must be up to date. `elements`,
/// if given, gets what is known of this graph's small integer tensors.
CAMEO_API status infer_types(graph&, known_elements* elements = nullptr);
/// The same for one node (and its subgraphs) whose inputs' types are known: for nodes that were just added.
CAMEO_API status infer_node_types(graph&, node_id);
/// Finds the operator and version of a node, or the function that it calls, and holds its arity and attributes against
/// them: for nodes that were just added.
CAMEO_API status resolve_and_check_node(graph&, node_id, const op_table&);

/// Replaces a node that calls `body` by a copy of the body: names made unique, attributes filled in, nodes resolved
/// against `ops`. The nodes added, in order.
CAMEO_API result<std::vector<node_id>> inline_call(graph&, node_id, const function& body, const op_table&);

}  // namespace cameo::inline CAMEO_ABI
