#pragma once
#include <cameo/graph/graph.hpp>

namespace cameo::inline CAMEO_ABI {

/// What a node of a compiled model says of its context; nothing of the context itself is opened.
struct compiled_node_info {
  std::string node, graph_name;       // the node's own name, and which graph of the context it runs
  std::string source;                 // who compiled it, and can run it
  std::string sdk_version, hardware;  // as far as the provider said
  std::string notes, id;              // the provider's words; the id that the context has, too (docs/contexts.md)
  std::string file;                   // of its context, relative to the model's folder; empty: it names none
  bool is_main = true, is_embedded = true;
  std::size_t embedded_bytes = 0;
};

/// The compiled nodes of a model as it was read, those in nested graphs and functions, too. INVALID_GRAPH for a node
/// whose numbers are out of their range.
CAMEO_API result<std::vector<compiled_node_info>> compiled_nodes_of(const model&);

/// Before a model with compiled nodes of its own is written to `output`, a path. INVALID_ARGUMENT naming node, file and
/// folder when that is in another folder than the model's and a context is not found from there: the name of its file
/// would lead nowhere.
CAMEO_API status require_contexts_beside(const model&, std::string_view output);

}  // namespace cameo::inline CAMEO_ABI
