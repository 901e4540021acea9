#pragma once
#include <cameo/graph/graph.hpp>

namespace cameo::inline CAMEO_ABI {

/// The property by which a file says to what part of the model a node belongs, for rules that give parts to devices.
inline constexpr std::string_view placement_key = "layer_ann";

/// What a node's properties say under that key; empty when they say nothing.
std::string_view placement_of(std::span<const property>);

/// Says it, in place of what was said; an empty text takes it away. `text` lives as long as the model.
void set_placement(model&, graph_node&, std::string_view text);

/// Nodes that say nothing themselves say what `text` is: a call's, for the nodes of its body.
void inherit_placement(graph&, std::span<const node_id>, std::string_view text);

/// What some nodes say (removed ones, too), if those that say anything say the same.
class placement_vote {
 public:
  void hear(std::string_view text) {
    if (text.empty()) return;
    differs_ = differs_ || (!agreed_.empty() && agreed_ != text);
    agreed_ = text;
  }
  /// A node that only holds a constant has no say.
  void hear(const graph&, node_id);
  bool heard() const { return !agreed_.empty(); }
  std::string_view agreed() const { return differs_ ? std::string_view{} : agreed_; }

 private:
  std::string_view agreed_;
  bool differs_ = false;
};

}  // namespace cameo::inline CAMEO_ABI
