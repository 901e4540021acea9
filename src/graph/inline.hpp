#pragma once
#include <cameo/graph/check.hpp>

namespace CAMEO_NAMESPACE {

/// Finds the operator and version of a node, or the function that it calls.
status resolve_node(graph&, node_id, const op_table&);
/// Calls resolve_node() and then checks the node's arities and attributes, for which no types are needed. With
/// `in_function`, the attributes may refer to those of a caller.
status check_node(graph&, node_id, const op_table&, bool in_function);

/// Like inline_call(), but does not preserve graph outputs. Returns the values that replace the call's outputs: outputs
/// of new nodes, or inputs of the call that the body returns unchanged. `added` receives the new nodes.
result<std::vector<value_id>> expand_call(graph&, node_id, const function&, const op_table&,
                                          std::vector<node_id>* added = nullptr);

/// Replaces a node by a copy of a body, which belongs to the node or to a node of the outer graph. The body's inputs
/// are the node's first inputs. Names are made unique, and nodes resolved with `ops`. Returns the nodes that were
/// added, in order. NOT_IMPLEMENTED, without a change, if the body has more inputs than the node.
result<std::vector<node_id>> inline_body(graph&, node_id, const graph& body, const op_table& ops);

}  // namespace CAMEO_NAMESPACE
