#pragma once
#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

namespace cameo::inline CAMEO_ABI {

/// Rows of two or three constant tables, their sum and its normalisation become EmbedLayerNormalization. A rewrite of
/// normalization_fusion.
struct fuse_embedding {
  static constexpr std::string_view name = "EmbedLayerNormFusion";
  using roots = op_set<op::LayerNormalization>;
  using makes = op_set<op::microsoft::EmbedLayerNormalization, op::Cast>;
  using needs = op_set<op::Gather>;
  static bool rewrite(rewriter&, const node_view& norm);
};

}  // namespace cameo::inline CAMEO_ABI
