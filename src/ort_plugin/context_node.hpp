#pragma once
#include "ort_plugin/plugin.hpp"

namespace cameo::inline CAMEO_ABI::detail::ort {

/// What is stored of one fused node: the context that the provider made of it, or else its graph, so that every
/// provider has contexts.
struct stored_group {
  std::string context, partition, sdk, architecture, notes;
  std::int64_t max_size = 0;
  std::string fit;  // the provider's compatibility text; empty for none

  /// Compiles the group. Where all of it becomes one compiled node of the provider's, its context is stored.
  static result<stored_group> of(const plugin&, const session_options&, std::unique_ptr<model>);
  /// True if the provider's own context is stored.
  bool is_compiled() const { return !partition.empty(); }

  /// The stored group as a model of one node.
  result<std::unique_ptr<model>> as_model(std::unique_ptr<model> shell, std::string_view source) const;
  /// A node of ONNX Runtime's with the name, inputs and outputs of the fused one, with the context in it or in a file
  /// beside the compiled model that ONNX Runtime is to write. FAIL when that can't be written.
  result<ort_node*> node(const plugin&, const ort_node& fused, const boundary&, const host_options&) const;
};

/// A model with the inputs and outputs of another, and no nodes; not valid until it has some.
std::unique_ptr<model> shell_of(const model&);
/// The value of `source` in the provider's compiled nodes.
std::string_view source_of(const plugin&);

/// True for a compiled node of the provider's.
bool is_context_of(const plugin&, const graph_node&);
/// The bytes of a model that a node stores instead of a context; std::nullopt for any other node. INVALID_GRAPH for a
/// file that is not where it should be.
result<std::optional<std::vector<std::byte>>> stored_model(const model&, const host_options&);

}  // namespace cameo::inline CAMEO_ABI::detail::ort
