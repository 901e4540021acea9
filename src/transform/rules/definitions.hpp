#pragma once
#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

/// The definitions that take more than a line; src/transform/rules/definitions.cpp has the list of all.
namespace cameo::inline CAMEO_ABI::define {

/// NegativeLogLikelihoodLoss: the element of each target's class, weighted, and reduced.
struct likelihood_loss {
  static constexpr std::string_view name = "NegativeLogLikelihoodLossDefinition";
  using roots = op_set<op::NegativeLogLikelihoodLoss>;
  static bool rewrite(rewriter&, const node_view&);
};
/// SoftmaxCrossEntropyLoss: the same of LogSoftmax, which is its second output.
struct cross_entropy_loss {
  static constexpr std::string_view name = "SoftmaxCrossEntropyLossDefinition";
  using roots = op_set<op::SoftmaxCrossEntropyLoss>;
  static bool rewrite(rewriter&, const node_view&);
};
/// CenterCropPad: Pad where the input is smaller, then Slice where it is larger.
struct center_crop_pad {
  static constexpr std::string_view name = "CenterCropPadDefinition";
  using roots = op_set<op::CenterCropPad>;
  static bool rewrite(rewriter&, const node_view&);
};
/// GroupNormalization: InstanceNormalization of the groups, then scale and bias of channels (version 21; those
/// before are deprecated).
struct group_normalization {
  static constexpr std::string_view name = "GroupNormalizationDefinition";
  using roots = op_set<op::GroupNormalization>;
  static bool rewrite(rewriter&, const node_view&);
};
/// SequenceMap: a Loop over the first sequence that appends what the body gives.
struct sequence_map {
  static constexpr std::string_view name = "SequenceMapDefinition";
  static result<bool> run(rewriter&);
};

}  // namespace cameo::inline CAMEO_ABI::define
