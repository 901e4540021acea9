#pragma once
#include <cameo/graph/model.hpp>

namespace CAMEO_NAMESPACE {

/// The metadata key of a node's layer annotation, by which rules assign parts of a model to devices.
inline constexpr std::string_view placement_key = "layer_ann";

/// The layer annotation among a node's properties; empty if there is none.
std::string_view placement_of(std::span<const detail::property>);

/// Sets the layer annotation of a node; an empty text removes it. `text` must live as long as the model.
void set_placement(model&, detail::graph_node&, std::string_view text);

/// Annotates those of the nodes that have no annotation: the nodes of a body get the annotation of its call.
void inherit_placement(graph&, std::span<const node_id>, std::string_view text);

/// The layer annotation that some nodes share, for a node that replaces them. It is empty if two of the nodes have
/// different annotations.
class placement_vote {
 public:
  void add(std::string_view text) {
    if (text.empty()) return;
    differs_ = differs_ || (!agreed_.empty() && agreed_ != text);
    agreed_ = text;
  }
  /// Adds the annotation of a node, unless the node is only a constant.
  void add(const graph&, node_id);
  bool has_annotation() const { return !agreed_.empty(); }
  std::string_view agreed() const { return differs_ ? std::string_view{} : agreed_; }

 private:
  std::string_view agreed_;
  bool differs_ = false;
};

}  // namespace CAMEO_NAMESPACE
