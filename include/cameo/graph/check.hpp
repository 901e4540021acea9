#pragma once
#include <cameo/graph/model.hpp>

#include <unordered_map>

namespace CAMEO_NAMESPACE {

/// The operators of a program: the standard ones, and those that its providers declare. Each list is sorted by id.
struct op_table {
  std::span<const op_row> standard = detail::standard_ops();
  std::vector<std::span<const op_row>> more = {};

  /// The operator's row; null if it is not declared.
  CAMEO_API const op_row* find(std::string_view domain, std::string_view name) const;
  /// True if some operator is in this domain.
  CAMEO_API bool has_domain(std::string_view domain) const;
};

/// Checks and resolves a whole model. Every node gets its operator and version, or its function; names are unique and
/// defined; arities, attributes and element types are legal for the operator's version; there are no cycles, and no
/// function calls itself. Then it sorts every graph and infers types and shapes. On success all values whose type can
/// be inferred have one; a contradiction between a declared and an inferred type is INVALID_GRAPH.
/// Sizes that the file declares for values other than the main graph's inputs are not trusted: they are moved to
/// graph_value::declared, and a type contains only sizes that hold in every run.
///   INVALID_ARGUMENT  a name that is not defined, an empty graph
///   INVALID_GRAPH     any other error with known operators
///   FAIL              an operator of a domain that is not declared
CAMEO_API status check_model(model&, const op_table&);

/// The known elements of small integer tensors (rank 0 or 1), by value number. Such tensors are often shapes computed
/// from other shapes.
using known_elements = std::unordered_map<std::uint32_t, std::vector<dim>>;

/// Infers types and shapes of one graph and its subgraphs again after a change; sort() must be up to date. `elements`,
/// if given, receives the known elements of this graph's small integer tensors.
CAMEO_API status infer_types(graph&, known_elements* elements = nullptr);
/// Infers the types of one node (and its subgraphs) whose inputs have types: for nodes that were just added.
CAMEO_API status infer_node_types(graph&, node_id);
/// Finds the operator and version of a node, or the function that it calls, and checks its arity and attributes: for
/// nodes that were just added.
CAMEO_API status resolve_and_check_node(graph&, node_id, const op_table&);

/// Replaces a node that calls `body` by a copy of the body, with unique names, attributes filled in and nodes resolved
/// with `ops`. Returns the nodes that were added, in order.
CAMEO_API result<std::vector<node_id>> inline_call(graph&, node_id, const function& body, const op_table&);

}  // namespace CAMEO_NAMESPACE
