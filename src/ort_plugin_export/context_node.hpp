#pragma once
#include "ort_plugin_export/plugin.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// Where the contexts of a compiled model are written to.
struct context_place {
  bool is_embedded = false;  // in nodes; false: in files
  bool is_shared = false;    // several models share one file (ep.share_ep_contexts)
  bool is_last = false;      // this model is the last that shares the file
  std::string folder, stem;  // of the compiled model; empty for embedded contexts
};

/// The context of a compiled node: the context that the provider made, or the graph of the node if the provider does
/// not make contexts.
struct stored_group {
  std::string context;
  text_pairs texts;  // further attributes of the compiled node
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  std::vector<std::string> inputs, outputs;  // names, in the order of the context
  bool is_compiled = false;                  // the provider made the context
  bool is_file = false;                      // `context` is the name of a file that models share
  std::string compatibility;                 // the provider's compatibility text; may be empty
  std::string program;                       // an ORT file of the group, for the session that runs it

  /// Compiles a group. If it becomes one compiled node, that node's context is stored.
  static result<stored_group> make(const plugin&, const session_options&, const context_place&, std::unique_ptr<model>);

  /// Makes a node for ONNX Runtime's compiled model, with the name of the fused node. The context is in the node, or in
  /// a file beside the compiled model. FAIL if this file can't be written.
  result<ort_node*> make_node(const plugin&, const ort_node& fused, const context_place&) const;
};

/// True for a compiled node that the plugin's provider can load.
bool is_context_of(const plugin&, const node_view&);

}  // namespace CAMEO_NAMESPACE::detail::ort
