#pragma once
#include <cameo/graph/model.hpp>

namespace CAMEO_NAMESPACE {

/// The metadata key of a node's layer annotation, by which rules assign parts of a model to devices.
inline constexpr std::string_view placement_key = "layer_ann";

/// The annotation of a node; empty when it has none.
std::string_view placement_of(std::span<const detail::property>);

/// Sets the annotation; an empty text removes it. `text` lives as long as the model.
void set_placement(model&, detail::graph_node&, std::string_view text);

/// Annotates those of the nodes that have no annotation: the nodes of a body get the annotation of its call.
void inherit_placement(graph&, std::span<const node_id>, std::string_view text);

/// The annotation that some nodes share (nodes may be removed); none if two have different ones.
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
