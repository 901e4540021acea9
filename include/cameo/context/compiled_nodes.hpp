#pragma once
#include <cameo/core/result.hpp>
#include <cameo/graph/graph.hpp>

namespace CAMEO_NAMESPACE {

/// What a compiled node (EPContext) of a model states about its context; the context itself is not opened.
struct compiled_node_info {
  std::string node, graph_name;       // the node's own name, and the graph of the context that it runs
  std::string source;                 // attribute `source`: the provider that compiled it and can run it
  std::string sdk_version, hardware;  // as far as the provider stated them
  std::string notes, id;              // the provider's notes; the id that is also in the context (docs/contexts.md)
  std::string file;                   // the context's file, relative to the model's folder; empty: none
  bool is_main = true, is_embedded = true;
  std::size_t embedded_bytes = 0;
};

/// The compiled nodes of a model as it was read, including those in subgraphs and functions. INVALID_GRAPH for a node
/// with an attribute out of its range.
CAMEO_API result<std::vector<compiled_node_info>> compiled_nodes_of(const model&);

/// Checks that the context files of a model can be found from the folder of `output`, the path to which the model is
/// about to be written: compiled nodes name these files relative to the model's folder. INVALID_ARGUMENT, with the node
/// and the file, if a context file is missing there.
CAMEO_API status require_contexts_beside(const model&, std::string_view output);

}  // namespace CAMEO_NAMESPACE
