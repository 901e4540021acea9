#pragma once
#include <cameo/graph/model.hpp>

CAMEO_BEGIN_NAMESPACE

/// The metadata key for the part of the model that a node belongs to, for rules that give parts to devices.
inline constexpr std::string_view placement_key = "layer_ann";

/// The text of a node under that key; empty when it has none.
std::string_view placement_of(std::span<const detail::property>);

/// Sets the text; an empty one removes it. `text` lives as long as the model.
void set_placement(model&, detail::graph_node&, std::string_view text);

/// Gives `text` to nodes without a text of their own: a call's text, for the nodes of its body.
void inherit_placement(graph&, std::span<const node_id>, std::string_view text);

/// The common text of some nodes (removed ones, too), if all that have one have the same.
class placement_vote {
 public:
  void hear(std::string_view text) {
    if (text.empty()) return;
    differs_ = differs_ || (!agreed_.empty() && agreed_ != text);
    agreed_ = text;
  }
  /// A node that only holds a constant does not count.
  void hear(const graph&, node_id);
  bool heard() const { return !agreed_.empty(); }
  std::string_view agreed() const { return differs_ ? std::string_view{} : agreed_; }

 private:
  std::string_view agreed_;
  bool differs_ = false;
};

CAMEO_END_NAMESPACE
