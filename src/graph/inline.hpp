#pragma once
#include <cameo/graph/check.hpp>

CAMEO_BEGIN_NAMESPACE

/// Finds the operator and version of a node, or the function that it calls.
status resolve_node(graph&, node_id, const op_table&);
/// The same, and checks what needs no types: arities and attributes. `in_function`: attributes may refer to a caller's.
status check_node(graph&, node_id, const op_table&, bool in_function);

/// inline_call without the care for graph outputs: the values that the call's outputs turn out to be (its own, or what
/// the body hands through). `added` gets the new nodes.
result<std::vector<value_id>> expand_call(graph&, node_id, const function&, const op_table&,
                                          std::vector<node_id>* added = nullptr);

/// Replaces a node by a copy of a body, one of its own or of a node of the graph around: the node's first inputs are
/// what the body has as inputs; names made unique, nodes resolved against `ops`. The nodes added, in order.
/// NOT_IMPLEMENTED, and nothing changed, if the body has more inputs.
result<std::vector<node_id>> inline_body(graph&, node_id, const graph& body, const op_table& ops);

CAMEO_END_NAMESPACE
