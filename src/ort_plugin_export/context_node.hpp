#pragma once
#include "ort_plugin_export/plugin.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// Where contexts of a compiled model go.
struct context_place {
  bool is_embedded = false;  // in their nodes; else in files
  bool is_shared = false;    // one file for all models up to the last one (ep.share_ep_contexts)
  bool is_last = false;      // what is compiled now is the last of those
  std::string folder, stem;  // of the compiled model; empty for embedded contexts
};

/// What is stored of one fused node: the context that the provider made of it, or else its graph, so that every
/// provider has contexts.
struct stored_group {
  std::string context;
  text_pairs texts;  // attributes of the node to be, besides
  std::vector<std::pair<std::string, std::int64_t>> numbers;
  std::vector<std::string> inputs, outputs;  // names, in the order of the context
  bool is_compiled = false;                  // the context is the provider's own
  bool is_file = false;                      // `context` is the name of a file, which models share
  std::string fit;                           // the provider's compatibility text; empty for none
  std::string program;                       // an ORT file that runs it

  /// Compiles the group. Where all of it becomes one compiled node of the provider's, its context is stored.
  static result<stored_group> of(const plugin&, const session_options&, const context_place&, std::unique_ptr<model>);

  /// A node of ONNX Runtime's with the fused one's name, with the context in it or in a file
  /// beside the compiled model that ONNX Runtime is to write. FAIL when that can't be written.
  result<ort_node*> node(const plugin&, const ort_node& fused, const context_place&) const;
};

/// True for a compiled node of the provider's.
bool is_context_of(const plugin&, const node_view&);

}  // namespace CAMEO_NAMESPACE::detail::ort
